/* perf_counters.h - what did the processor do: instructions, cycles, branches, misses.
 *
 *     perf_counters c = perf_counters_open(NULL);  // of this thread
 *     perf_counters_start(&c);
 *     work();
 *     perf_counters_stop(&c);
 *     puts(perf_counters_text(&c));            // "1204 instructions, 530 cycles, IPC 2.27, ..."
 *     perf_counters_close(&c);
 *
 * Linux, by its system call perf_event_open: nothing to link, no feature macro.  What cannot be
 * counted is NaN, never 0, and perf_counters_why() says why.  Other 64-bit Linux has page faults,
 * context switches and processor time, other systems nothing.  More: docs/counters.md.
 * Optional: only files that count include it.
 * Sections (search for ">>"):  counters  loops  scopes  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_COUNTERS_H
#define PERF_COUNTERS_H

#include "perf_bound.h"
#include "perf_file.h"
#include "perf_loop.h"
#include "perf_proc.h"
#include "perf_sink.h"

PERF_BEGIN_DECLS

/* >>counters ------------------------------------------------------------------------------------
 * All counters in one list: X(name, text, the kernel's type and config, leader of its group).
 * The kernel puts a group onto the processor as a whole, so ratios within one are fair.          */
#define PERF_COUNTER_LIST_(X)                                                                     \
    X(PERF_COUNTER_INSTRUCTIONS, "instructions", PERF_HARDWARE_, 1, PERF_COUNTER_INSTRUCTIONS)    \
    X(PERF_COUNTER_CYCLES, "cycles", PERF_HARDWARE_, 0, PERF_COUNTER_INSTRUCTIONS)                \
    X(PERF_COUNTER_BRANCHES, "branches", PERF_HARDWARE_, 4, PERF_COUNTER_BRANCHES)                \
    X(PERF_COUNTER_BRANCH_MISSES, "branch misses", PERF_HARDWARE_, 5, PERF_COUNTER_BRANCHES)      \
    X(PERF_COUNTER_L1D_MISSES, "L1d misses", PERF_CACHE_, 0x10000, PERF_COUNTER_L1D_MISSES)       \
    X(PERF_COUNTER_LLC_MISSES, "LLC misses", PERF_CACHE_, 0x10002, PERF_COUNTER_L1D_MISSES)       \
    X(PERF_COUNTER_PAGE_FAULTS, "page faults", PERF_SOFTWARE_, 2, PERF_COUNTER_PAGE_FAULTS)       \
    X(PERF_COUNTER_SWITCHES, "context switches", PERF_SOFTWARE_, 3, PERF_COUNTER_SWITCHES)        \
    X(PERF_COUNTER_MIGRATIONS, "migrations", PERF_SOFTWARE_, 4, PERF_COUNTER_MIGRATIONS)          \
    X(PERF_COUNTER_TASK_CLOCK, "ns of processor time", PERF_SOFTWARE_, 1, PERF_COUNTER_TASK_CLOCK)

#define PERF_COUNTER_ENUM_(name, text, kind, number, leader) name,
/* L1d, LLC: loads that missed the first, the last level of the caches.  Migrations: changes of the
 * core.  The last four are the system's own and need no counter of the processor.                */
typedef enum perf_counter {
    PERF_COUNTER_LIST_(PERF_COUNTER_ENUM_)
    PERF_COUNTER_COUNT                  /* how many there are                                     */
} perf_counter;
#undef PERF_COUNTER_ENUM_

typedef struct perf_counters_opts {     /* zero = default                                         */
    uint32_t which;                     /* bits 1u << PERF_COUNTER_CYCLES ...; 0 -> all           */
    int      threads;                   /* 1: also threads and processes that begin after open;   */
                                        /* faults, switches and time are then of the process      */
    int      kernel;                    /* 1: code of the kernel counts, too; 0: the program's    */
    int      process;                   /* pid of a child that has not called exec: it is counted */
                                        /* from its exec, with its children; our own pid: all     */
                                        /* that this thread starts later, each from its exec;     */
                                        /* 0: the calling thread                                  */
    int      scopes;                    /* 1: from start to stop also scopes count, see >>scopes; */
                                        /* not with `process`                                     */
} perf_counters_opts;

/* One counter, for the library. */
typedef struct perf_open_counter_ {
    int      how;                       /* PERF_BY_EVENT_ ...                                     */
    int      fd;                        /* -1: none                                               */
    int      leads;                     /* 1: first of its group                                  */
    int      error;                     /* errno of the system's refusal; 0: none                 */
    uint64_t id;                        /* the kernel's number of the event                       */
    uint64_t at[3];                     /* at start: value, ns enabled, ns on the processor; of   */
                                        /* the system's own: value, thread (0: of the process)    */
} perf_open_counter_;

/* Read its upper half; the library writes it all.  One thread uses it at a time. */
typedef struct perf_counters {
    double      value[PERF_COUNTER_COUNT];  /* from start to stop; NaN: missing                   */
    double      share[PERF_COUNTER_COUNT];  /* of that time, how much was counted: 1 all of it;   */
                                        /* less: others had the counter, so the value is scaled   */
                                        /* up; 0: missing                                         */
    perf_counters_opts opts;            /* what really counts                                     */
    perf_status status;                 /* PERF_OK; PERF_ENODATA: every counter is missing        */
    char        text[1000];             /* of perf_counters_text and perf_counters_why            */
    double      iteration[2][PERF_COUNTER_COUNT];   /* counts per iteration, after a loop's last  */
                                        /* next: [0] of a bench, [variant] of an A/B loop; NaN:   */
                                        /* missing, or not yet                                    */
    perf_open_counter_ own[PERF_COUNTER_COUNT]; /* the rest is the library's                      */
    int         process, counting;
    struct perf_slices_ *slices;        /* of a loop; NULL: none                                  */
} perf_counters;

/* Opens counters of the calling thread; they do not count yet.  opts NULL: defaults.  Takes up to
 * seven file descriptors (closed on exec) until perf_counters_close.  Some 50 us.  `status` of the
 * result: PERF_OK, or PERF_ENODATA if every counter is missing; perf_counters_why() says why.    */
PERF_FN perf_counters perf_counters_open(const perf_counters_opts *opts);

/* Counts from here on; a child of opts.process needs no start.  PERF_ESTATE: `counters` is NULL,
 * counts already, is not open, or was opened by another process: a forked child opens its own.
 * PERF_ENODATA: every counter is missing; or scopes cannot count on this system, and the rest
 * counts.  PERF_ENOMEM: no memory to record scopes.  If only the processor has none for scopes, the
 * report says so.                                                                                */
PERF_FN perf_status perf_counters_start(perf_counters *counters);

/* Stops, and fills in value[] and share[] with what came after the last start; it may start again.
 * Faults, switches and time are of the thread that starts and stops; NaN if these are two.  A
 * counter is missing whose descriptor the program has closed.  PERF_ESTATE: `counters` is NULL, or
 * does not count in this process; PERF_ENODATA: all are missing.                                 */
PERF_FN perf_status perf_counters_stop(perf_counters *counters);

/* Gives the file descriptors back; NULL, or closed already: nothing.  value[] and text stay.     */
PERF_FN void perf_counters_close(perf_counters *counters);

/* Why a counter is missing, as a sentence in counters->text; NULL: it is not missing. */
PERF_FN const char *perf_counters_why(perf_counters *counters, perf_counter which);

/* One line of English into counters->text, which it returns: what was counted, instructions per
 * cycle (IPC), what was scaled, what is missing and why.  NULL gives "".                         */
PERF_FN const char *perf_counters_text(perf_counters *counters);

/* >>loops: what an iteration costs in instructions, cycles, branches, misses --------------------
 *
 *     perf_counters c = perf_counters_open(NULL);
 *     perf_ab ab = perf_ab_begin("sum", NULL);
 *     perf_counters_loop(&c, &ab);
 *     while ((v = perf_ab_next(&ab)) >= 0) { ... }
 *     perf_rule rule = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_INSTRUCTIONS);
 *     perf_verdict v = perf_counters_judge(&c, &rule);         // instructions down >= 5 %
 *     perf_ab_result r = perf_ab_end(&ab);                     // what time says
 *     perf_counters_close(&c);
 *
 * Counted are slices of their own, in turns, after the timed ones: time is never disturbed.  A
 * slice of n iterations less one of n / 2 leaves what n / 2 iterations take.  The loop's own
 * instructions and branches are taken off; cycles overlap, so theirs stay.  The `if` that chooses
 * variant n counts as its body; verdicts allow 2 n instructions and n branches for it.
 * The median of each count is in the report and in files, as counters of the loop.
 *
 * Or the loop itself holds the rule: opts.accept.rule is on a count, or opts.also is, joined with
 * one on time.  Such a loop runs only if it counts.  r.verdict is by the rule; of two it is the
 * worse part (REJECT, then INCONCLUSIVE), and r.part[] has both.  Each entry of a race likewise,
 * and r.entry[i].counted[] has what an iteration counts.                                         */

/* Makes a loop count: after its begin, before its first next.  Up to 12 rounds (a race: 18), and no
 * more than a tenth of max_seconds after the third; threads that the body starts count with
 * opts.threads.  A body that pauses is not counted.  `counters` counts this loop until
 * perf_counters_close, which comes after the loop's end.  PERF_EINVAL: NULL, or opts.process;
 * PERF_ESTATE: `counters` is closed, counts already, or was opened by another process, or the loop
 * has begun, or a profiler has the scopes that opts.scopes asks for; PERF_ENOMEM: no memory.  After
 * these the loop runs as without `counters`.  PERF_ENODATA: every counter is missing; the slices
 * run all the same, and perf_counters_judge says what is missing.                                */
PERF_FN perf_status perf_counters_loop(perf_counters *counters, perf_loop *loop);

/* The verdict on a count of an A/B loop, between its last next and the close of `counters`:
 * rule->metric is PERF_METRIC_INSTRUCTIONS, _CYCLES, _BRANCHES or _BRANCH_MISSES.  INCONCLUSIVE if
 * the counter is missing; then `reason` says why.  PERF_EINVAL: another metric, or NULL;
 * PERF_ESTATE: `counters` counts no A/B loop.                                                    */
PERF_FN perf_verdict perf_counters_judge(perf_counters *counters, const perf_rule *rule);

/* >>scopes: instructions and cycles of each scope -----------------------------------------------
 *
 *     $ PERF_COUNTERS=1 PERF_REPORT=1 ./program    // one file has PERF_AT_EXIT 1
 *
 * or opts.scopes of perf_counters_open, from perf_counters_start to perf_counters_stop: every scope
 * of every thread that begins and ends meanwhile.  Table and tree have a list of paths below them,
 * JSON has "counters", a trace has both numbers with each scope.  perf_counters_start then says
 * PERF_ESTATE where a profiler hears the scopes (PERF_NVTX, and a tool is attached).  A scope's
 * numbers include the scopes that it calls, and the cost of counting these.  Not counted: laps,
 * spans, recursive calls after the first, scopes inside 64 others, those of a coroutine that waits,
 * forked children in their parent's report.
 * Misses of the last cache, mispredicted branches and stalls of the front end are counted, too,
 * where the processor has them: perf_diagnosis.h then says "cache misses", "branch misses" or
 * "front end" in place of "cpu", and JSON has them.  They are a group of their own: where counters
 * are short, instructions and cycles come first.
 * Up to five descriptors a thread, until it ends.  A counted scope costs 1,500 to 1,800
 * instructions; where the kernel does not allow rdpmc or mrs, four to eight system calls more.
 * Off: nothing.  Linux with gcc or clang; elsewhere scopes are not counted: perf_counters_start
 * says PERF_ENODATA, and perf_counters_text and a note in the reports say why.                   */

/* >>private: bodies, in the order of the prototypes ---------------------------------------------
 * Three things are called counting here; a prefix says which:
 *   perf_counter_       one counter of a perf_counters, between its start and stop
 *   perf_slices_        slices that a loop runs after the timed ones, to be counted
 *   perf_counted_       what scopes have counted: _scope_ in one thread, _path_ in all
 * and below them:
 *   perf_linux_event_   an event of the system call perf_event_open
 *   perf_thread_        the events that a thread opens to count its scopes                       */

enum { PERF_HARDWARE_, PERF_SOFTWARE_, PERF_CACHE_ = 3 };       /* PERF_TYPE_ of the kernel       */

/* Where a counter's value comes from, or why it has none. */
enum { PERF_NOT_ASKED_, PERF_BY_EVENT_, PERF_BY_SYSTEM_, PERF_REFUSED_, PERF_NEVER_RAN_,
       PERF_NO_SYSTEM_, PERF_NO_COMPILER_, PERF_COUNTERS_OFF_ };

#if defined(PERF_SYS_EVENT_OPEN_)               /* a test sets 0: a system without it             */
#elif defined(__linux__) && PERF_LP64_UNIX_ && defined(__x86_64__)
#define PERF_SYS_EVENT_OPEN_ 298L
#elif defined(__linux__) && PERF_LP64_UNIX_ && (defined(__aarch64__) || defined(__riscv))
#define PERF_SYS_EVENT_OPEN_ 241L
#else
#define PERF_SYS_EVENT_OPEN_ 0L                 /* 0: none here                                   */
#endif

#define PERF_COUNTER_TEXT_(name, text, kind, number, leader) text,
PERF_FN const char *perf_counter_name_(int which)
{
    static const char *const texts[] = {PERF_COUNTER_LIST_(PERF_COUNTER_TEXT_) ""};

    return texts[which];
}
#undef PERF_COUNTER_TEXT_

/* ---- the kernel's interface: perf_linux_event_ ---- */

#if PERF_SYS_EVENT_OPEN_
#define PERF_LINUX_EVENT_ENABLE_   0x2400ul     /* numbers of <linux/perf_event.h>                */
#define PERF_LINUX_EVENT_DISABLE_  0x2401ul
#define PERF_LINUX_EVENT_ID_       0x80082407ul
#define PERF_LINUX_EVENT_CLOEXEC_  8ul
#define PERF_LINUX_EVENT_TIMES_    3u           /* read: value, ns enabled, ns running            */
#define PERF_LINUX_EVENT_DISABLED_ 0x1u         /* bits of `flags`                                */
#define PERF_LINUX_EVENT_INHERIT_  0x2u
#define PERF_LINUX_EVENT_NO_KERNEL_ 0x60u       /* neither kernel nor hypervisor                  */
#define PERF_LINUX_EVENT_AT_EXEC_  0x1000u

typedef struct perf_linux_event_attr_ {         /* the kernel's struct, in its first version      */
    uint32_t type, size;
    uint64_t config, period, sample_type, read_format, flags;
    uint32_t wakeup, breakpoint;
    uint64_t config1;
} perf_linux_event_attr_;

extern int perf_linux_event_ioctl_(int, unsigned long, ...) __asm__(PERF_SYM_("ioctl"));

/* A new descriptor, or minus errno. */
PERF_COLD_FN_ int perf_linux_event_open_(const perf_linux_event_attr_ *attr, int process, int group)
{
    long fd = perf_syscall_(PERF_SYS_EVENT_OPEN_, attr, PERF_CAST_(long, process), -1L,
                            PERF_CAST_(long, group), PERF_LINUX_EVENT_CLOEXEC_);

    return fd < 0 ? -PERF_ERRNO_ : PERF_CAST_(int, fd);
}

/* The kernel's number of an event; 0: the descriptor is no event, or the kernel does not tell. */
PERF_COLD_FN_ uint64_t perf_linux_event_id_(int fd)
{
    uint64_t id = 0;

    if (perf_linux_event_ioctl_(fd, PERF_LINUX_EVENT_ID_, &id))
        return 0;
    return id;
}

/* 0: there is no descriptor, or it is not the event that we opened.  A program may have closed all
 * descriptors, as a daemon does, and have a file of its own under the number: that is neither read
 * nor closed.                                                                                    */
PERF_FN int perf_linux_event_is_ours_(int fd, uint64_t id)
{
    return fd >= 0 && perf_linux_event_id_(fd) == id;
}

/* Reads value, ns enabled, ns running into at[3].  0: they cannot be read. */
PERF_FN int perf_linux_event_read_(int fd, uint64_t id, uint64_t *at)
{
    const long bytes = PERF_CAST_(long, 3 * sizeof *at);

    return perf_linux_event_is_ours_(fd, id) && perf_fd_read_(fd, at, 3 * sizeof *at) == bytes;
}

/* Opens counter `which`, in its group if that is open and has room. */
PERF_COLD_FN_ void perf_counter_open_(perf_counters *counters, int which,
                                      perf_linux_event_attr_ attr, int leader)
{
    perf_open_counter_ *counter = &counters->own[which];
    const int      group = leader == which ? -1 : counters->own[leader].fd;
    const int      of_kernel = which == PERF_COUNTER_SWITCHES || which == PERF_COUNTER_MIGRATIONS;

    attr.size = PERF_CAST_(uint32_t, sizeof attr);
    attr.read_format = PERF_LINUX_EVENT_TIMES_;
    if (counters->opts.threads || counters->opts.process)
        attr.flags |= PERF_LINUX_EVENT_INHERIT_;
    if (!counters->opts.kernel && !of_kernel)       /* these happen in the kernel alone           */
        attr.flags |= PERF_LINUX_EVENT_NO_KERNEL_;
    counter->fd = -1;
    if (group >= 0)                                 /* on and off with its leader, as one         */
        counter->fd = perf_linux_event_open_(&attr, counters->opts.process, group);
    counter->leads = counter->fd < 0;
    if (counter->leads) {                       /* or no room in the group: alone                 */
        attr.flags |= PERF_LINUX_EVENT_DISABLED_;
        if (counters->opts.process)
            attr.flags |= PERF_LINUX_EVENT_AT_EXEC_;
        counter->fd = perf_linux_event_open_(&attr, counters->opts.process, -1);
    }
    counter->how = PERF_BY_EVENT_;
    if (counter->fd >= 0) {
        counter->id = perf_linux_event_id_(counter->fd);
    } else {
        counter->error = -counter->fd;
        counter->fd = -1;
        counter->how = PERF_REFUSED_;
    }
}

/* Gives counter `which` an order, and so its group; nothing where it does not lead one. */
PERF_FN void perf_counter_order_(perf_counters *counters, int which, unsigned long order)
{
    if (counters->own[which].fd >= 0 && counters->own[which].leads)
        (void)perf_linux_event_ioctl_(counters->own[which].fd, order, 0);
}

/* Switches all on.  The group of instructions is the last: it counts the least of our own code. */
PERF_FN void perf_counters_switch_on_(perf_counters *counters)
{
    int i;

    for (i = PERF_COUNTER_COUNT - 1; i >= 0; i--)
        perf_counter_order_(counters, i, PERF_LINUX_EVENT_ENABLE_);
}

/* Switches all off, the group of instructions first. */
PERF_FN void perf_counters_switch_off_(perf_counters *counters)
{
    int i;

    for (i = 0; i < PERF_COUNTER_COUNT; i++)
        perf_counter_order_(counters, i, PERF_LINUX_EVENT_DISABLE_);
}
#else
typedef struct perf_linux_event_attr_ {
    uint32_t type;
    uint64_t config;
} perf_linux_event_attr_;
#define perf_linux_event_read_(fd, id, at) ((void)(fd), (void)(id), (void)(at), 0)
#define perf_counters_switch_on_(counters) ((void)0)
#define perf_counters_switch_off_(counters) ((void)0)

PERF_COLD_FN_ void perf_counter_open_(perf_counters *counters, int which,
                                      perf_linux_event_attr_ attr, int leader)
{
    (void)attr, (void)leader;
    counters->own[which].how = PERF_NO_SYSTEM_;
}
#endif

/* ---- scopes that count, see below: perf_counted_ ---- */

/* Makes scopes count.  PERF_ENODATA: not on this system; PERF_ESTATE: a profiler has the scopes;
 * PERF_ENOMEM: no memory, or called within a signal handler that came inside the lock.           */
PERF_COLD_DECL_ perf_status perf_counted_scopes_on_(void);
/* Takes one perf_counted_scopes_on_ back; the last of them stops the counting. */
PERF_COLD_DECL_ void perf_counted_scopes_off_(void);

/* Why scopes cannot count in this program: PERF_NO_SYSTEM_ ...; 0: they can. */
#if !PERF_SYS_EVENT_OPEN_
#define PERF_COUNTED_MISSING_ PERF_NO_SYSTEM_
#elif PERF_TCC_
#define PERF_COUNTED_MISSING_ PERF_NO_COMPILER_
#else
#define PERF_COUNTED_MISSING_ 0
#endif

/* What the system tells without a counter, of this thread or of the process: at[0] is the value,
 * at[1] the thread, or 0 for the process.  Returns 0 if the system does not tell it.             */
PERF_FN int perf_counter_read_system_(const perf_counters *counters, int which, uint64_t *at)
{
#if defined(__linux__) && PERF_LP64_UNIX_
    struct perf_usage_ usage;
    const int          of_thread = !counters->opts.threads;

    if (counters->opts.process)
        return 0;
    at[1] = of_thread ? perf_thread_id_() : 0;
    if (which == PERF_COUNTER_TASK_CLOCK) {             /* the next clock's id is of this thread  */
        at[0] = perf_system_ns_(PERF_CLOCK_PROCESS_ID_ + of_thread);
        return at[0] != 0;
    }
    if (which != PERF_COUNTER_PAGE_FAULTS && which != PERF_COUNTER_SWITCHES)
        return 0;
    if (perf_getrusage_(of_thread, &usage))             /* RUSAGE_SELF 0, RUSAGE_THREAD 1         */
        return 0;
    at[0] = PERF_CAST_(uint64_t, usage.nvcsw + usage.nivcsw);
    if (which == PERF_COUNTER_PAGE_FAULTS)
        at[0] = PERF_CAST_(uint64_t, usage.minflt + usage.majflt);
    return 1;
#else
    (void)counters, (void)which, (void)at;
    return 0;
#endif
}

/* ---- open, start, stop, close: perf_counter_ ---- */

typedef struct perf_counter_kind_ {
    uint32_t type;
    uint64_t number;
    int      leader;
} perf_counter_kind_;

#define PERF_COUNTER_KIND_(name, text, kind, number, leader) {kind, number, leader},
/* Chooses where the value comes from: from the system, which needs no descriptor, or an event. */
PERF_COLD_FN_ void perf_counter_choose_source_(perf_counters *counters, int which)
{
    static const perf_counter_kind_ kinds[] = {PERF_COUNTER_LIST_(PERF_COUNTER_KIND_)};
    perf_linux_event_attr_          attr;

    PERF_LIBC_(memset)(&attr, 0, sizeof attr);
    attr.type = kinds[which].type;
    attr.config = kinds[which].number;
    if (PERF_DISABLE)
        counters->own[which].how = PERF_COUNTERS_OFF_;
    else if (perf_counter_read_system_(counters, which, counters->own[which].at))
        counters->own[which].how = PERF_BY_SYSTEM_;
    else
        perf_counter_open_(counters, which, attr, kinds[which].leader);
}
#undef PERF_COUNTER_KIND_

/* 1: it has where its value comes from. */
PERF_FN int perf_counter_is_counted_(const perf_open_counter_ *counter)
{
    return counter->how == PERF_BY_EVENT_ || counter->how == PERF_BY_SYSTEM_;
}

PERF_FN perf_counters perf_counters_open(const perf_counters_opts *opts)
{
    perf_counters counters;
    int           i;

    PERF_LIBC_(memset)(&counters, 0, sizeof counters);
    if (opts)
        counters.opts = *opts;
    if (counters.opts.process)
        counters.opts.scopes = 0;
    if (!(counters.opts.which & ((1u << PERF_COUNTER_COUNT) - 1)))
        counters.opts.which = (1u << PERF_COUNTER_COUNT) - 1;
    counters.process = PERF_CAST_(int, perf_process_id_());
    counters.counting = counters.opts.process != 0;
    counters.status = PERF_ENODATA;
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
        counters.own[i].fd = -1;
        counters.value[i] = counters.iteration[0][i] = counters.iteration[1][i] = PERF_NAN_;
        if (counters.opts.which & (1u << i))
            perf_counter_choose_source_(&counters, i);
        if (perf_counter_is_counted_(&counters.own[i]))
            counters.status = PERF_OK;
    }
    if (PERF_DISABLE)
        counters.status = PERF_EDISABLED;
    return counters;
}

/* Reads the counter now, into at[].  0: it cannot be read. */
PERF_FN int perf_counter_read_(const perf_counters *counters, int which, uint64_t *at)
{
    const perf_open_counter_ *counter = &counters->own[which];

    if (counter->how == PERF_BY_SYSTEM_)
        return perf_counter_read_system_(counters, which, at);
    return perf_linux_event_read_(counter->fd, counter->id, at);
}

PERF_FN perf_status perf_counters_start(perf_counters *counters)
{
    perf_status scopes = PERF_OK;
    int         i;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!counters || counters->counting || !counters->process ||
        counters->process != PERF_CAST_(int, perf_process_id_()))
        return PERF_ESTATE;
    if (counters->opts.scopes)
        scopes = perf_counted_scopes_on_();
    if (scopes != PERF_OK && scopes != PERF_ENODATA)
        return scopes;                          /* a profiler has them, or there is no memory     */
    counters->status = PERF_ENODATA;
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
        if (counters->own[i].how == PERF_NEVER_RAN_)    /* before the last stop                   */
            counters->own[i].how = PERF_BY_EVENT_;
        if (perf_counter_read_(counters, i, counters->own[i].at))
            counters->status = PERF_OK;
    }
    counters->counting = 1;
    perf_counters_switch_on_(counters);
    return scopes == PERF_OK ? counters->status : scopes;
}

/* What a counter has counted since start, scaled up by the share of the time that it ran. */
PERF_FN void perf_counter_file_(perf_counters *counters, int which)
{
    perf_open_counter_ *counter = &counters->own[which];
    uint64_t       now[3] = {0, 0, 0};
    double         enabled, running, value;

    counters->value[which] = PERF_NAN_;
    counters->share[which] = 0.0;
    if (!perf_counter_is_counted_(counter) || !perf_counter_read_(counters, which, now))
        return;
    value = PERF_CAST_(double, now[0] - counter->at[0]);
    if (counter->how == PERF_BY_SYSTEM_) {
        if (now[1] != counter->at[1])           /* another thread's                               */
            return;
        counters->value[which] = value;
        counters->share[which] = 1.0;
        return;
    }
    enabled = PERF_CAST_(double, now[1] - counter->at[1]);
    running = PERF_CAST_(double, now[2] - counter->at[2]);
    if (!(running > 0.0)) {
        counter->how = PERF_NEVER_RAN_;
        return;
    }
    counters->share[which] = running < enabled ? running / enabled : 1.0;
    counters->value[which] = value / counters->share[which];
}

PERF_FN perf_status perf_counters_stop(perf_counters *counters)
{
    int i;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!counters || !counters->counting ||
        counters->process != PERF_CAST_(int, perf_process_id_()))
        return PERF_ESTATE;
    perf_counters_switch_off_(counters);
    counters->counting = 0;
    if (counters->opts.scopes)
        perf_counted_scopes_off_();
    counters->status = PERF_ENODATA;
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
        perf_counter_file_(counters, i);
        if (counters->share[i] > 0.0)
            counters->status = PERF_OK;
    }
    return counters->status;
}

PERF_FN void perf_counters_close(perf_counters *counters)
{
    int i;

    if (!counters || !counters->process)
        return;
    if (counters->opts.scopes && counters->counting)
        perf_counted_scopes_off_();
    PERF_FREE(counters->slices);
    counters->slices = PERF_NULL_;
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
#if PERF_SYS_EVENT_OPEN_
        if (perf_linux_event_is_ours_(counters->own[i].fd, counters->own[i].id))
            (void)perf_close_(counters->own[i].fd);
#endif
        counters->own[i].fd = -1;
    }
    counters->process = counters->counting = 0;
}

/* ---- words ---- */

#define PERF_NO_SENTENCE_   "perf_event_open failed with an error that is not expected"
#define PERF_PARANOID_TEXT_ "the kernel forbids it: /proc/sys/kernel/perf_event_paranoid is "

/* The sentence with perf_event_paranoid, static; NULL: that does not forbid it.  Without privileges
 * 2 allows the program's own code, 1 the kernel's, too (perf_event_open(2)); some distributions
 * have 3 and 4, which allow nothing.                                                             */
PERF_COLD_FN_ const char *perf_counter_forbidden_(const perf_counters *counters, int which)
{
    static const char *const is[] = {PERF_PARANOID_TEXT_ "2", PERF_PARANOID_TEXT_ "3",
                                     PERF_PARANOID_TEXT_ "4", PERF_PARANOID_TEXT_ "above 4"};
    uint64_t                 paranoid = 0, most = 2;

    if (counters->opts.kernel || which == PERF_COUNTER_SWITCHES || which == PERF_COUNTER_MIGRATIONS)
        most = 1;
    perf_proc_read_(0, "sys/kernel/perf_event_paranoid", &paranoid, 1);
    if (paranoid <= most)
        return PERF_NULL_;
    if (paranoid > 4)
        return is[3];
    return is[paranoid - 2];
}

/* Why the system refused: from errno, and from what the kernel allows. */
PERF_COLD_FN_ const char *perf_counter_refusal_(const perf_counters *counters, int which)
{
    const char *forbidden;

    switch (counters->own[which].error) {
    case 1:                                         /* EPERM                                      */
    case 13:                                        /* EACCES                                     */
        forbidden = perf_counter_forbidden_(counters, which);
        if (forbidden)
            return forbidden;
        return "a sandbox forbids it (seccomp of a container, or a security module)";
    case 2:                                         /* ENOENT                                     */
    case 19:                                        /* ENODEV                                     */
    case 22:                                        /* EINVAL                                     */
    case 95:                                        /* EOPNOTSUPP                                 */
        return "this processor does not count it, or a virtual machine hides the counter";
    case 3:                                         /* ESRCH                                      */
        return "there is no such process";
    case 16:                                        /* EBUSY                                      */
        return "another program has taken the counter for itself";
    case 23:                                        /* ENFILE                                     */
    case 24:                                        /* EMFILE                                     */
        return "too many files are open: see ulimit -n";
    case 38:                                        /* ENOSYS                                     */
        return "the kernel, or a sandbox, has no perf_event_open";
    default:
        return PERF_NO_SENTENCE_;
    }
}

/* Why a counter is missing.  Static. */
PERF_COLD_FN_ const char *perf_counter_missing_(const perf_counters *counters, int which)
{
    switch (counters->own[which].how) {
    case PERF_NOT_ASKED_:
        return "it was not asked for";
    case PERF_REFUSED_:
        return perf_counter_refusal_(counters, which);
    case PERF_NEVER_RAN_:
        return "it never had its turn: others used the processor's counters, "
               "or the time was too short";
    case PERF_NO_SYSTEM_:
        return "only 64-bit Linux tells it";
    case PERF_NO_COMPILER_:
        return "only gcc and clang make scopes that count";
    case PERF_COUNTERS_OFF_:
        return perf_status_text(PERF_EDISABLED);
    default:
        return "it was never started, could not be read, or another thread stopped it";
    }
}

PERF_COLD_FN_ void perf_put_counter_missing_(perf_out_ *out, const perf_counters *counters,
                                             int which)
{
    const char *why = perf_counter_missing_(counters, which);

    perf_put_(out, why);
    if (!PERF_LIBC_(strcmp)(why, PERF_NO_SENTENCE_)) {
        perf_put_(out, ": ");
        perf_put_u64_(out, PERF_CAST_(uint64_t, counters->own[which].error));
    }
}

/* 1: it has a value, or is being counted. */
PERF_FN int perf_counter_is_here_(const perf_counters *counters, int which)
{
    if (counters->share[which] > 0.0)
        return 1;
    return counters->counting && perf_counter_is_counted_(&counters->own[which]);
}

PERF_FN const char *perf_counters_why(perf_counters *counters, perf_counter which)
{
    perf_out_ out;

    if (!counters)
        return "there are no counters";
    if (which >= PERF_COUNTER_COUNT)
        return "there is no such counter";
    if (perf_counter_is_here_(counters, PERF_CAST_(int, which)))
        return PERF_NULL_;
    out = perf_out_open_(counters->text, sizeof counters->text);
    perf_put_counter_missing_(&out, counters, PERF_CAST_(int, which));
    return counters->text;
}

/* "1204 instructions"; whole numbers, as scaled ones are no more exact. */
PERF_COLD_FN_ void perf_put_counter_(perf_out_ *out, const perf_counters *counters, int which)
{
    perf_put_fixed_(out, counters->value[which], 0);
    perf_put_char_(out, ' ');
    perf_put_(out, perf_counter_name_(which));
    if (counters->share[which] < 0.9995) {
        perf_put_number_(out, " (scaled: counted ", 100.0 * counters->share[which], 1);
        perf_put_(out, " % of the time)");
    }
}

/* 1: both are missing for the same reason. */
PERF_COLD_FN_ int perf_counters_missing_alike_(const perf_counters *counters, int i, int j)
{
    char      text[2][200];
    perf_out_ out;

    if (counters->own[i].how != counters->own[j].how ||
        counters->own[i].error != counters->own[j].error)
        return 0;
    out = perf_out_open_(text[0], sizeof text[0]);
    perf_put_counter_missing_(&out, counters, i);
    out = perf_out_open_(text[1], sizeof text[1]);
    perf_put_counter_missing_(&out, counters, j);
    return !PERF_LIBC_(strcmp)(text[0], text[1]);
}

/* "; no branches, branch misses: this processor does not count it", one for each reason. */
PERF_COLD_FN_ void perf_put_counters_missing_(perf_out_ *out, const perf_counters *counters,
                                              const char *lead)
{
    uint32_t said = 0;
    int      i, j;

    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
        if ((said & (1u << i)) || counters->own[i].how == PERF_NOT_ASKED_ ||
            perf_counter_is_here_(counters, i))
            continue;
        perf_put_(out, lead);
        lead = "; no ";
        perf_put_(out, perf_counter_name_(i));
        for (j = i + 1; j < PERF_COUNTER_COUNT; j++) {
            if (perf_counter_is_here_(counters, j) || !perf_counters_missing_alike_(counters, i, j))
                continue;
            said |= 1u << j;
            perf_put_(out, ", ");
            perf_put_(out, perf_counter_name_(j));
        }
        perf_put_(out, ": ");
        perf_put_counter_missing_(out, counters, i);
    }
}

/* "no cycles: the kernel forbids it", of the two that scopes count; error[2]: errno of each, or 0.
 * Returns 0 if nothing is missing.                                                               */
PERF_COLD_FN_ int perf_put_scopes_missing_(perf_out_ *out, const char *lead, const uint32_t *error)
{
    perf_counters counters;
    int           i, some = 0;

    PERF_LIBC_(memset)(&counters, 0, sizeof counters);
    for (i = 0; i < 2; i++) {
        counters.own[i].how = PERF_COUNTED_MISSING_;
        counters.own[i].error = PERF_CAST_(int, PERF_GET_(&error[i]));
        if (counters.own[i].error)
            counters.own[i].how = PERF_REFUSED_;
        some |= counters.own[i].how;
    }
    if (some)
        perf_put_counters_missing_(out, &counters, lead);
    return some;
}

PERF_FN const char *perf_counters_text(perf_counters *counters)
{
    static const uint32_t none[2] = {0, 0};
    perf_out_   out;
    const char *lead = "";
    int         i;

    if (!counters)
        return "";
    out = perf_out_open_(counters->text, sizeof counters->text);
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
        if (!(counters->share[i] > 0.0))
            continue;
        perf_put_(&out, lead);
        lead = ", ";
        perf_put_counter_(&out, counters, i);
        if (i == PERF_COUNTER_CYCLES && counters->value[i] > 0.0 &&
            counters->share[PERF_COUNTER_INSTRUCTIONS] > 0.0)
            perf_put_number_(&out, ", IPC ",
                             counters->value[PERF_COUNTER_INSTRUCTIONS] / counters->value[i], 2);
    }
    perf_put_counters_missing_(&out, counters, *lead ? "; no " : "no ");
    if (counters->opts.scopes && PERF_COUNTED_MISSING_ != 0)
        (void)perf_put_scopes_missing_(&out, "; counters of scopes: no ", none);
    return counters->text;
}

/* ---- loops: perf_slices_ ---- */

/* Rounds of counted slices: at most; at most in a race of three or more (18 can tell 63 arms from
 * the first); at least, for a median.  EMPTY_: iterations of the loop without a body.            */
enum { PERF_SLICES_ROUNDS_ = 12, PERF_SLICES_RACE_ = 18, PERF_SLICES_LEAST_ = 3,
       PERF_SLICES_EMPTY_ = 4096 };

/* What an arm has counted per iteration: [counter][round]. */
typedef double perf_slices_arm_[PERF_COUNTER_COUNT][PERF_SLICES_RACE_];

/* What the counted slices of a loop have counted. */
typedef struct perf_slices_ {
    perf_loop_state_ *state;
    uint64_t began;                     /* perf_now() of the first counted slice                  */
    int      arms, rounds;              /* rounds: complete ones                                  */
    int      turn;                      /* of the round under way: slices begun                   */
    int      full;                      /* 1: the slice under way has n iterations, 0: n / 2      */
    int      arm;                       /* of the slice under way                                 */
    int      pauses;                    /* 1: the body pauses, so nothing is counted              */
    perf_compare_opts accept;           /* of the loop, as asked                                  */
    double   whole[PERF_COUNTER_COUNT];         /* of the last slice of n iterations              */
    double   overhead[PERF_COUNTER_COUNT];      /* of the loop itself, per iteration              */
    unsigned char    order[64];         /* of the arms in this round                              */
    perf_slices_arm_ *value;            /* [arms], overhead[] included                            */
} perf_slices_;

/* The fewest iterations whose half is one: a body that takes long runs twice and once. */
PERF_FN uint64_t perf_slices_batch_(const perf_loop_arm_ *arm)
{
    return arm->batch < 2 ? 2 : arm->batch;
}

/* Shuffles the arms (Fisher and Yates): each order is equally likely. */
PERF_COLD_FN_ void perf_slices_shuffle_(perf_slices_ *slices)
{
    uint64_t half;
    int      i, j;

    for (i = 0; i < slices->arms; i++) {
        half = perf_random_(&slices->state->coin) >> 32;
        j = PERF_CAST_(int, half * PERF_CAST_(uint64_t, i + 1) >> 32);
        slices->order[i] = slices->order[j];
        slices->order[j] = PERF_CAST_(unsigned char, i);
    }
}

/* The next slice of the round: each arm with n iterations, then with half of them. */
PERF_COLD_FN_ uint64_t perf_slices_begin_one_(perf_counters *counters, perf_slices_ *slices)
{
    perf_loop_state_ *state = slices->state;
    uint64_t          batch;

    slices->arm = slices->order[slices->turn / 2];
    slices->full = !(slices->turn & 1);
    slices->turn++;
    batch = perf_slices_batch_(&state->arm[slices->arm]);
    if (!slices->full)
        batch /= 2;
    state->arm[slices->arm].runs += batch;
    if (state->opts.before)
        state->opts.before(state->opts.user, slices->arm);
    (void)perf_counters_start(counters);
    return 64 * batch + PERF_CAST_(uint64_t, slices->arm);
}

/* A slice has ended.  After one of n iterations its counts are kept; after one of n / 2 the
 * difference of both is filed, per iteration. */
PERF_COLD_FN_ void perf_slices_end_one_(perf_counters *counters, perf_slices_ *slices)
{
    const uint64_t batch = perf_slices_batch_(&slices->state->arm[slices->arm]);
    const double   iterations = PERF_CAST_(double, batch - batch / 2);
    int            i;

    (void)perf_counters_stop(counters);
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {
        if (slices->full)
            slices->whole[i] = counters->value[i];
        else
            slices->value[slices->arm][i][slices->rounds] =
                (slices->whole[i] - counters->value[i]) / iterations;
    }
}

/* 1: there are rounds enough, or no more time. */
PERF_COLD_FN_ int perf_slices_has_enough_(const perf_slices_ *slices)
{
    const double most_ns = 0.1 * 1e9 * slices->state->opts.max_seconds;

    if (slices->rounds >= PERF_SLICES_RACE_ ||
        (slices->arms < 3 && slices->rounds >= PERF_SLICES_ROUNDS_))
        return 1;
    return slices->rounds >= PERF_SLICES_LEAST_ &&
           PERF_CAST_(double, perf_now() - slices->began) > most_ns;
}

/* The median of a count per iteration, less `overhead`.  NaN: fewer than three rounds have it,
 * because others had the counter.                                                                */
PERF_COLD_FN_ double perf_slices_median_(const perf_slices_ *slices, int arm, int which,
                                         double overhead)
{
    const double median =
        perf_summarize(slices->value[arm][which], PERF_CAST_(size_t, slices->rounds)).p50;
    int          i, count = 0;

    for (i = 0; i < slices->rounds; i++)
        count += !perf_is_nan_(slices->value[arm][which][i]);
    if (count < PERF_SLICES_LEAST_)
        return PERF_NAN_;
    return median > overhead ? median - overhead : 0.0;
}

/* "instructions", of an A/B loop "instructions, candidate".  A number that the body itself gave
 * under this name stays.                                                                         */
PERF_COLD_FN_ void perf_slices_publish_(const perf_slices_ *slices, int arm, const char *name,
                                        double value)
{
    static const char *const arms[] = {", baseline", ", candidate"};
    perf_kept_loop_              *loop = &slices->state->loop;
    char                     title[sizeof loop->counter[0]];
    perf_out_                out = perf_out_open_(title, sizeof title);
    const size_t             room = sizeof loop->value / sizeof *loop->value;
    size_t                   i = 0;

    perf_put_(&out, name);
    if (slices->arms > 1)
        perf_put_(&out, arms[arm]);
    while (loop->counter[i][0] && PERF_LIBC_(strcmp)(loop->counter[i], title) != 0)
        i++;
    if (i == room || loop->counter[i][0] || perf_is_nan_(value))
        return;
    PERF_LIBC_(memcpy)(loop->counter[i], title, sizeof title);
    loop->value[i] = value;
}

/* Hands the medians to the loop, for reports and files. */
PERF_COLD_FN_ void perf_slices_publish_all_(perf_counters *counters)
{
    const perf_slices_ *slices = counters->slices;
    double              instructions, cycles;
    int                 arm, i;

    for (arm = 0; arm < slices->arms; arm++) {
        for (i = 0; i < PERF_COUNTER_COUNT; i++)
            counters->iteration[arm][i] = perf_slices_median_(slices, arm, i, slices->overhead[i]);
        for (i = 0; i <= PERF_COUNTER_LLC_MISSES; i++)
            perf_slices_publish_(slices, arm, perf_counter_name_(i), counters->iteration[arm][i]);
        instructions = perf_slices_median_(slices, arm, PERF_COUNTER_INSTRUCTIONS, 0.0);
        cycles = perf_slices_median_(slices, arm, PERF_COUNTER_CYCLES, 0.0);
        if (cycles > 0.0)
            perf_slices_publish_(slices, arm, "IPC", instructions / cycles);
    }
}

/* The engine asks for the next slice that counts: 64 * iterations + arm; 0: enough.  It also asks
 * when the loop was left in the middle of one. */
PERF_COLD_FN_ uint64_t perf_slices_next_(struct perf_loop_state_ *state)
{
    perf_counters *counters = PERF_CAST_(perf_counters *, state->counters);
    perf_slices_  *slices = counters->slices;

    if (!slices)
        return 0;                       /* the counters were closed before the loop ended         */
    if (state->phase == PERF_LOOP_DONE_) {
        (void)perf_counters_stop(counters);
        return 0;
    }
    if (state->timer.pauses) {
        (void)perf_counters_stop(counters);
        slices->pauses = 1;
        slices->rounds = 0;             /* what was counted may hold a pause                      */
        state->loop.note =
            "not counted: what the body does while the loop is paused would count, too";
        return 0;
    }
    if (state->forced >= 0) {
        state->loop.note = "not counted: PERF_VARIANT forced one variant";
        return 0;
    }
    if (slices->turn)
        perf_slices_end_one_(counters, slices);
    else if (!slices->rounds)
        slices->began = perf_now();
    if (slices->turn == 2 * slices->arms) {
        slices->rounds++;
        slices->turn = 0;
    }
    if (perf_slices_has_enough_(slices)) {
        if (state->loop.kind < 3)
            perf_slices_publish_all_(counters);
        return 0;
    }
    if (!slices->turn)
        perf_slices_shuffle_(slices);
    return perf_slices_begin_one_(counters, slices);
}

/* A loop without a body, compiled as the user's are, with the call that ends it.                 */
PERF_ATTR_((__hot__)) PERF_OUTLINE_FN_ void perf_slices_loop_without_body_(int64_t n)
{
    perf_bench own = PERF_ZERO;

    own.left = n;
    while (perf_bench_next(&own))
        perf_clobber();
}

/* What n iterations of a loop without a body count; returns what the start says. */
PERF_COLD_FN_ perf_status perf_slices_count_empty_(perf_counters *counters, int64_t n)
{
    const perf_status status = perf_counters_start(counters);

    perf_slices_loop_without_body_(n);
    (void)perf_counters_stop(counters);
    return status;
}

/* Instructions and branches of the loop itself, per iteration.  The choice of an A/B loop's variant
 * counts as body: its code depends on the compiler.  PERF_ESTATE: a profiler has the scopes;
 * PERF_ENOMEM: no memory for them.                                                               */
PERF_COLD_FN_ perf_status perf_slices_calibrate_(perf_counters *counters, perf_slices_ *slices)
{
    static const int which[] = {PERF_COUNTER_INSTRUCTIONS, PERF_COUNTER_BRANCHES};
    perf_status      status;
    double           whole[2];
    int              i;

    status = perf_slices_count_empty_(counters, 2 * PERF_SLICES_EMPTY_);
    if (status != PERF_OK && status != PERF_ENODATA)
        return status;
    for (i = 0; i < 2; i++)
        whole[i] = counters->value[which[i]];
    (void)perf_slices_count_empty_(counters, PERF_SLICES_EMPTY_);
    for (i = 0; i < 2; i++)
        if (whole[i] > counters->value[which[i]])
            slices->overhead[which[i]] =
                (whole[i] - counters->value[which[i]]) / PERF_CAST_(double, PERF_SLICES_EMPTY_);
    return PERF_OK;
}

/* The counter of a metric; PERF_COUNTER_COUNT: none. */
PERF_FN perf_counter perf_counter_of_metric_(perf_metric metric)
{
    if (metric < PERF_METRIC_INSTRUCTIONS || metric > PERF_METRIC_BRANCH_MISSES)
        return PERF_COUNTER_COUNT;
    return PERF_CAST_(perf_counter, metric - PERF_METRIC_INSTRUCTIONS);
}

/* Variant `arm` against variant 0 in the rounds that counted both, less overhead[].  Counts below
 * 0.01 become 0.01, so that there is a ratio.                                                    */
PERF_COLD_FN_ perf_verdict perf_slices_compare_(const perf_slices_ *slices, int arm, int which,
                                                const perf_compare_opts *opts)
{
    const double least = 0.01;
    double       value[2][PERF_SLICES_RACE_], baseline, other;
    size_t       n = 0;
    perf_verdict verdict;
    int          i;

    for (i = 0; i < slices->rounds; i++) {
        baseline = slices->value[0][which][i] - slices->overhead[which];
        other = slices->value[arm][which][i] - slices->overhead[which];
        if (perf_is_nan_(baseline) || perf_is_nan_(other))
            continue;
        value[0][n] = perf_most_(baseline, least);
        value[1][n++] = perf_most_(other, least);
    }
    verdict = perf_compare_pairs(value[0], value[1], n, opts);
    if (verdict.decision == PERF_INCONCLUSIVE && n < PERF_CAST_(size_t, slices->rounds))
        verdict.reason = "the counter had its turn in too few rounds";
    return verdict;
}

/* The verdict on variant `arm` by opts.rule, which is on a count. */
PERF_COLD_FN_ perf_verdict perf_slices_judge_(const perf_counters *counters, perf_compare_opts opts,
                                              int arm)
{
    const perf_slices_ *slices = counters->slices;
    const int           which = PERF_CAST_(int, perf_counter_of_metric_(opts.rule.metric));
    perf_verdict        verdict;

    opts.design = PERF_DESIGN_RANDOM;
    if (which == PERF_COUNTER_INSTRUCTIONS)         /* to choose variant n may take n tests and   */
        opts.tick = 2.0 * arm;                      /* jumps more                                 */
    if (which == PERF_COUNTER_BRANCHES)
        opts.tick = arm;
    verdict = perf_slices_compare_(slices, arm, which, &opts);
    if (verdict.decision == PERF_INCONCLUSIVE && opts.tick > 0.0) {
        opts.tick = -1.0;                           /* exact: without that allowance              */
        if (perf_slices_compare_(slices, arm, which, &opts).decision != PERF_INCONCLUSIVE)
            verdict.reason =
                "what chooses the variant may be the difference: do more in an iteration";
    }
    if (!slices->rounds)
        verdict.reason = "the loop ended before a round was counted";
    if (verdict.decision == PERF_INCONCLUSIVE && !perf_counter_is_here_(counters, which))
        verdict.reason = perf_counter_missing_(counters, which);
    if (slices->pauses)
        verdict.reason = "the body pauses: what it does meanwhile would count, too";
    else if (slices->state->forced >= 0)
        verdict.reason = "PERF_VARIANT forced one variant: nothing to compare it with";
    return verdict;
}

/* Joins the verdict on a count with that on time, which entry->verdict has: the worse one decides,
 * REJECT before INCONCLUSIVE before ACCEPT.                                                      */
PERF_COLD_FN_ void perf_slices_join_parts_(perf_race_entry *entry, const perf_verdict *also)
{
    static const int bad[] = {1, 0, 2};             /* INCONCLUSIVE, ACCEPT, REJECT               */

    entry->parts = 2;
    entry->part[0] = entry->verdict;
    entry->part[1] = *also;
    if (bad[also->decision] > bad[entry->verdict.decision])
        entry->verdict = *also;
    else if (entry->verdict.decision == PERF_ACCEPT)
        entry->verdict.reason = "both rules hold";
}

/* Judges variant `arm` by the rules of the loop that are on counts. */
PERF_COLD_FN_ void perf_slices_judge_entry_(const perf_counters *counters, perf_loop_state_ *state,
                                            int arm)
{
    perf_race_entry  *entry = &state->entry[arm];
    perf_compare_opts opts = counters->slices->accept;
    perf_verdict      also;

    if (state->variants > 2)                        /* Bonferroni, over all of them               */
        opts.confidence =
            perf_least_(1.0 - (1.0 - opts.confidence) / (state->variants - 1), 0.999999);
    if (state->seen.compared)
        opts.guard.seen = state->seen;
    if (state->on_counts & 1) {
        entry->verdict = perf_slices_judge_(counters, opts, arm);
        entry->control_ratio = 0.0;                 /* these are about time                       */
        state->arm[arm].objection = 0;
    }
    if (state->on_counts & 2) {
        opts.rule = state->ask.also;
        also = perf_slices_judge_(counters, opts, arm);
        perf_slices_join_parts_(entry, &also);
    }
}

/* What an iteration of a race's variant counts. */
PERF_COLD_FN_ void perf_slices_fill_entry_(const perf_slices_ *slices, perf_race_entry *entry,
                                           int arm)
{
    int i;

    for (i = 0; i <= PERF_COUNTER_BRANCH_MISSES; i++)
        entry->counted[i] = perf_slices_median_(slices, arm, i, slices->overhead[i]);
}

/* What a loop has counted, and its verdicts, at its end. */
PERF_COLD_FN_ void perf_slices_finish_(struct perf_loop_state_ *state)
{
    perf_counters *counters = PERF_CAST_(perf_counters *, state->counters);
    perf_slices_  *slices = counters->slices;
    int            i;

    if (slices && state->loop.kind == 3)
        for (i = 0; i < state->variants; i++)
            perf_slices_fill_entry_(slices, &state->entry[i], i);
    if (!state->on_counts)
        return;
    for (i = 1; i < state->variants; i++) {
        if (slices) {
            perf_slices_judge_entry_(counters, state, i);
            continue;
        }
        state->entry[i].verdict.decision = PERF_INCONCLUSIVE;
        state->entry[i].verdict.reason = "the counters were closed before the loop ended";
    }
    if (slices)
        state->ask.accept = slices->accept;
}

/* 1: the loop was refused for nothing but its rule on a count. */
PERF_FN int perf_slices_only_can_judge_(const perf_loop_state_ *state)
{
    return state->on_counts && state->refused && !state->judge;
}

/* Lets a refused loop run.  Without a rule on time, the default one decides how long. */
PERF_COLD_FN_ void perf_slices_admit_(perf_loop_state_ *state)
{
    if (state->on_counts & 1) {
        state->ask.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
        state->typical = 1;
    }
    state->refused = state->loop.note = PERF_NULL_;
    state->status = PERF_OK;
    state->phase = PERF_LOOP_START_;
}

/* NULL: no memory. */
PERF_COLD_FN_ perf_slices_ *perf_slices_new_(perf_loop_state_ *state)
{
    const size_t  arms = state->loop.kind == 1 ? 1 : PERF_CAST_(size_t, state->variants);
    const size_t  size = sizeof(perf_slices_) + arms * sizeof(perf_slices_arm_);
    perf_slices_ *slices = PERF_CAST_(perf_slices_ *, PERF_MALLOC(size));

    if (!slices)
        return slices;
    PERF_LIBC_(memset)(slices, 0, size);
    slices->state = state;
    slices->arms = PERF_CAST_(int, arms);
    slices->value = PERF_PTR_(perf_slices_arm_ *, slices + 1);
    slices->accept = state->ask.accept;
    return slices;
}

PERF_OUTLINE_FN_ perf_status perf_slices_attach_(perf_counters *counters, perf_loop_state_ *state)
{
    perf_slices_ *slices;
    perf_status   status;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!counters || counters->opts.process)
        return PERF_EINVAL;
    if (perf_loop_kind_(state) < 1 || perf_loop_kind_(state) > 3)
        return PERF_EINVAL;
    if (counters->counting || counters->slices ||
        counters->process != PERF_CAST_(int, perf_process_id_()))
        return PERF_ESTATE;
    if (state->phase != PERF_LOOP_START_ && !perf_slices_only_can_judge_(state))
        return PERF_ESTATE;
    slices = perf_slices_new_(state);
    if (!slices)
        return PERF_ENOMEM;
    status = perf_slices_calibrate_(counters, slices);
    if (status != PERF_OK) {
        PERF_FREE(slices);
        return status;
    }
    counters->slices = slices;
    if (perf_slices_only_can_judge_(state))
        perf_slices_admit_(state);
    if (!(counters->share[PERF_COUNTER_INSTRUCTIONS] > 0.0) && !state->loop.note)
        state->loop.note = "without counters of the processor: perf_counters_text() says why";
    state->counters = counters;
    state->counted = perf_slices_next_;
    state->judge = perf_slices_finish_;
    return counters->status;
}

/* Inline, so that the address of the loop never escapes: it stays in registers.                  */
PERF_INLINE_FN_ perf_status perf_counters_loop(perf_counters *counters, perf_loop *loop)
{
    if (!loop)
        return perf_slices_attach_(PERF_NULL_, PERF_NULL_);
    return perf_slices_attach_(counters, loop->state);
}

PERF_FN perf_verdict perf_counters_judge(perf_counters *counters, const perf_rule *rule)
{
    perf_compare_opts opts = PERF_ZERO;
    perf_verdict      verdict = PERF_ZERO;

    if (rule)
        opts.rule = *rule;
    verdict.rule = opts.rule;
    verdict.status = PERF_OK;
    if (PERF_DISABLE)
        verdict.status = PERF_EDISABLED;
    else if (!counters || perf_counter_of_metric_(opts.rule.metric) == PERF_COUNTER_COUNT)
        verdict.status = PERF_EINVAL;
    else if (!counters->slices || counters->slices->arms != 2)
        verdict.status = PERF_ESTATE;
    verdict.reason = perf_status_text(verdict.status);
    if (verdict.status != PERF_OK)
        return verdict;
    return perf_slices_judge_(counters, opts, 1);
}

/* ---- scopes: perf_thread_ counts, perf_counted_ keeps it ----
 *
 * They come here through a sink (perf_registry.h): the hot path has no test for it.  Each thread
 * opens its own counters at its first counted scope, and keeps what its cells have counted.      */

#if PERF_SYS_EVENT_OPEN_ && !PERF_DISABLE && !PERF_TCC_
/* A call that was counted for less than 1/20 of its time is left out: its turn may be some
 * microseconds, many of them spent in the kernel.                                                */
enum { PERF_COUNTED_SCOPE_SHARE_ = 20 };
/* Open scopes that are counted in a thread; lists of its hash table; how many of its entries are
 * allocated at once.                                                                             */
enum { PERF_COUNTED_SCOPE_FRAMES_ = 64, PERF_COUNTED_SCOPE_BUCKETS_ = 256,
       PERF_COUNTED_SCOPE_BLOCK_ = 32 };

#if defined(__aarch64__)
#define PERF_LINUX_EVENT_USER_ 2u       /* config1: the program itself may read it                */
#else
#define PERF_LINUX_EVENT_USER_ 0u
#endif
#define PERF_LINUX_EVENT_GROUPED_ 8u    /* read: how many, ns enabled, ns running, each value     */

/* What scopes count: two groups, each of which the kernel puts onto the processor as a whole.  The
 * second is evidence for the diagnosis; where its counters are short, the first still counts.    */
enum {
    PERF_COUNTED_INSTRUCTIONS_, PERF_COUNTED_CYCLES_,
    PERF_COUNTED_EVIDENCE_,             /* the second group: what PERF_BY_CACHE_MISSES, ... name  */
    PERF_COUNTED_EVENTS_ = PERF_COUNTED_EVIDENCE_ + PERF_LOST_,
    PERF_COUNTED_GROUPS_ = 2
};

/* What the calls of a cell have counted; only its thread writes. */
typedef struct perf_counted_scope_ {
    struct perf_counted_scope_ *next;   /* of the same bucket                                     */
    const perf_cell_ *cell;
    uint64_t period;                    /* these numbers are of this perf_counted_shared_.period  */
    uint64_t scaled[PERF_COUNTED_GROUPS_];      /* calls: counted for a part of their time        */
    uint64_t missed[PERF_COUNTED_GROUPS_];      /* calls: counted for too little, left out        */
    uint64_t calls[PERF_COUNTED_EVENTS_];       /* calls that have counted this event             */
    uint64_t count[PERF_COUNTED_EVENTS_];       /* what these have counted, in all                */
} perf_counted_scope_;

/* What the counters of a thread show at one moment. */
typedef struct perf_thread_reading_ {
    uint64_t count[PERF_COUNTED_EVENTS_];
    uint64_t enabled[PERF_COUNTED_GROUPS_];     /* ns since the group was switched on             */
    uint64_t lost[PERF_COUNTED_GROUPS_];        /* ns of these without a counter                  */
    int      known[PERF_COUNTED_GROUPS_];       /* 1: it could be read                            */
    int      exact[PERF_COUNTED_GROUPS_];       /* 1: `enabled` is of now; 0: it may be older     */
} perf_thread_reading_;

/* A counted scope that is open. */
typedef struct perf_counted_frame_ {
    const perf_cell_    *cell;
    uint64_t             period;        /* perf_counted_shared_.period at its begin               */
    uint32_t             depth;         /* of all scopes of the thread                            */
    perf_thread_reading_ at;            /* at its begin                                           */
} perf_counted_frame_;

/* The kernel's page of an event (perf_event_mmap_page), as far as it is used. */
typedef struct perf_linux_event_page_ {
    uint32_t version, compatible, lock, index;  /* index: 0 not on the processor, else 1 more     */
    uint64_t offset, enabled, running, may;
    uint16_t width, shift;
    uint32_t mult;
    uint64_t ns, zero;                  /* the times above are so old: ns + ticks * mult >> shift */
    uint32_t size, reserved;
    uint64_t tick, mask;                /* of a counter with fewer than 64 bits                   */
} perf_linux_event_page_;
#define PERF_LINUX_EVENT_MAY_READ_ 4u   /* of `may`                                               */
#define PERF_LINUX_EVENT_HAS_TIME_ 8u
#define PERF_LINUX_EVENT_IS_SHORT_ 32u  /* tick and mask are of use                               */

/* Counters of a thread.  It stays when the thread has ended, for the next one of its recorder. */
typedef struct perf_thread_counters_ {
    struct perf_thread_counters_ *next;
    uint64_t number;                    /* of the recorder's thread that opened it                */
    uint32_t thread, process;
    uint32_t open;                      /* frames in use                                          */
    int      lead[PERF_COUNTED_GROUPS_];        /* its event that leads the group; -1: none       */
    int      fd[PERF_COUNTED_EVENTS_];          /* -1: not open                                   */
    uint64_t id[PERF_COUNTED_EVENTS_];          /* the kernel's number of the event               */
    const perf_linux_event_page_ *page[PERF_COUNTED_EVENTS_];   /* NULL: not to be had            */
    uint64_t lost[PERF_COUNTED_GROUPS_];        /* at the last read()                             */
    perf_counted_scope_ *buckets[PERF_COUNTED_SCOPE_BUCKETS_];
    perf_counted_scope_ *spare;         /* the next one of a block                                */
    uint32_t spares;                    /* left in that block                                     */
    uint32_t name[2];                   /* ids of instructions and cycles, for the trace          */
    perf_counted_frame_ frame[PERF_COUNTED_SCOPE_FRAMES_];
} perf_thread_counters_;

/* What the files of one image share. */
typedef struct perf_counted_shared_ {
    perf_thread_counters_ *threads;     /* a list                                                 */
    const perf_sink_ *sink;             /* perf_counted_scope_sink_ of the file that began        */
    uint64_t      period;               /* how often perf_reset has forgotten all                 */
    uint32_t      users;                /* perf_counted_scopes_on_ less _off_                     */
    uint32_t      has_key;              /* 0: not tried yet, 1: there is no `key`, 2: there is    */
    unsigned      key;                  /* its destructor closes counters at a thread's end       */
    uint32_t      some_count;           /* 1: a thread has a counter                              */
    uint32_t      error[2];             /* of instructions, cycles: errno of the last refusal     */
    perf_source_  source;
} perf_counted_shared_;

extern PERF_WEAK_ perf_counted_shared_ perf_counted_shared_v1_
    __asm__(PERF_SYM_("perf_counted_" PERF_STR_(PERF_VERSION)));
PERF_WEAK_ perf_counted_shared_ perf_counted_shared_v1_;

extern int perf_key_make_(unsigned *, void (*)(void *)) __asm__(PERF_SYM_("pthread_key_create"))
    PERF_ATTR_((__weak__));             /* NULL: not linked                                       */
extern int perf_key_set_(unsigned, const void *) __asm__(PERF_SYM_("pthread_setspecific"))
    PERF_ATTR_((__weak__));

/* ---- reading ---- */

#ifndef PERF_PMC_               /* the processor's instruction; a test has its own               */
#if defined(__x86_64__)
#define PERF_PMC_ perf_pmc_
PERF_FN uint64_t perf_pmc_(uint32_t index)
{
    uint32_t low, high;

    __asm__ __volatile__("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
    return PERF_CAST_(uint64_t, high) << 32 | low;
}
#elif defined(__aarch64__)
#define PERF_PMC_ perf_pmc_
#define PERF_PMC_OF_(n, name)                                                                     \
    case n:                                                                                       \
        __asm__ __volatile__("mrs %0, " name : "=r"(value) : : "memory");                         \
        break;
#define PERF_PMC_7_(n, row)                                                                       \
    PERF_PMC_OF_(n, row "_0") PERF_PMC_OF_(n + 1, row "_1") PERF_PMC_OF_(n + 2, row "_2")         \
    PERF_PMC_OF_(n + 3, row "_3") PERF_PMC_OF_(n + 4, row "_4") PERF_PMC_OF_(n + 5, row "_5")     \
    PERF_PMC_OF_(n + 6, row "_6")
#define PERF_PMC_8_(n, row) PERF_PMC_7_(n, row) PERF_PMC_OF_(n + 7, row "_7")
/* pmevcntr0_el0 .. pmevcntr30_el0, and pmccntr_el0: each is an instruction of its own. */
PERF_FN uint64_t perf_pmc_(uint32_t index)
{
    uint64_t value = 0;

    switch (index) {
        PERF_PMC_8_(0, "S3_3_C14_C8")
        PERF_PMC_8_(8, "S3_3_C14_C9")
        PERF_PMC_8_(16, "S3_3_C14_C10")
        PERF_PMC_7_(24, "S3_3_C14_C11")
        PERF_PMC_OF_(31, "S3_3_C9_C13_0")
    default: break;
    }
    return value;
}
#endif
#endif

#ifdef PERF_PMC_
/* The times of a group.  Those of the page are of when the thread came to the processor.  Where the
 * page tells how to count on by the clock, `enabled` is brought to now, and `exact` is 1. */
PERF_FN void perf_linux_event_peek_times_(const perf_linux_event_page_ *page,
                                          perf_thread_reading_ *at, int group)
{
    const uint64_t enabled = PERF_ACQ_(&page->enabled);
#if PERF_CLOCK != PERF_CLOCK_MONOTONIC
    const uint64_t may = PERF_ACQ_(&page->may);
    const uint32_t shift = PERF_ACQ_(&page->shift) & 63u;
    const uint64_t mult = PERF_ACQ_(&page->mult);
    uint64_t       ticks = perf_ticks();
#endif

    at->enabled[group] = enabled;
    at->lost[group] = enabled - PERF_ACQ_(&page->running);
    at->exact[group] = 0;
#if PERF_CLOCK != PERF_CLOCK_MONOTONIC
    if (may & PERF_LINUX_EVENT_IS_SHORT_)
        ticks =
            PERF_ACQ_(&page->tick) + ((ticks - PERF_ACQ_(&page->tick)) & PERF_ACQ_(&page->mask));
    at->exact[group] = (may & PERF_LINUX_EVENT_HAS_TIME_) != 0;
    if (at->exact[group])
        at->enabled[group] += PERF_ACQ_(&page->ns) + (ticks >> shift) * mult +
                              ((ticks & ((UINT64_C(1) << shift) - 1)) * mult >> shift);
#endif
}

/* An event of the calling thread without a system call.  0: it is not on the processor now, or only
 * the kernel may read it.  The kernel changes `lock` when the thread was away meanwhile.         */
PERF_FN int perf_linux_event_peek_(const perf_linux_event_page_ *page, perf_thread_reading_ *at,
                                   int which, int group, int leads)
{
    uint32_t lock, index, width;
    uint64_t raw;

    do {
        lock = PERF_ACQ_(&page->lock);
        index = PERF_ACQ_(&page->index);
        width = PERF_ACQ_(&page->width);
        if (!index || !(PERF_ACQ_(&page->may) & PERF_LINUX_EVENT_MAY_READ_) || !width || width > 64)
            return 0;
        if (leads)
            perf_linux_event_peek_times_(page, at, group);
        raw = PERF_PMC_(index - 1) << (64 - width);
        at->count[which] = PERF_ACQ_(&page->offset) +
                           PERF_CAST_(uint64_t, PERF_CAST_(int64_t, raw) >> (64 - width));
    } while (PERF_ACQ_(&page->lock) != lock);
    return 1;
}
#else
#define perf_linux_event_peek_(page, at, which, group, leads) 0
#endif

/* The events of a group are those from here up to, and without, perf_thread_group_end_. */
PERF_FN int perf_thread_group_first_(int group)
{
    return group ? PERF_COUNTED_EVIDENCE_ : 0;
}

PERF_FN int perf_thread_group_end_(int group)
{
    return group ? PERF_COUNTED_EVENTS_ : PERF_COUNTED_EVIDENCE_;
}

/* Reads a group without a system call.  Its leader, whose times count, comes last: so they hold for
 * all.  0: only read() can. */
PERF_FN int perf_thread_group_peek_(const perf_thread_counters_ *counters, perf_thread_reading_ *at,
                                    int group)
{
    const int lead = counters->lead[group];
    int       i;

    for (i = perf_thread_group_end_(group) - 1; i >= lead; i--) {
        if (counters->fd[i] < 0)
            continue;
        if (!counters->page[i] ||
            !perf_linux_event_peek_(counters->page[i], at, i, group, i == lead))
            return 0;
    }
    /* Where `enabled` may be old and something was lost since, only the kernel knows how much. */
    return at->exact[group] || at->lost[group] == counters->lost[group];
}

/* What the calling thread has counted so far of a group.  0: it cannot be read. */
PERF_FN int perf_thread_group_read_(perf_thread_counters_ *counters, perf_thread_reading_ *at,
                                    int group)
{
    const int leader = counters->lead[group];
    uint64_t  got[3 + PERF_COUNTED_EVENTS_];
    long      bytes;
    int       i, next = 3;

    if (leader < 0)
        return 0;
    if (perf_thread_group_peek_(counters, at, group))
        return 1;
    if (!perf_linux_event_is_ours_(counters->fd[leader], counters->id[leader]))
        return 0;
    bytes = perf_fd_read_(counters->fd[leader], got, sizeof got);
    for (i = perf_thread_group_first_(group); i < perf_thread_group_end_(group); i++) {
        at->count[i] = 0;
        if (counters->fd[i] < 0)
            continue;
        if (bytes < PERF_CAST_(long, sizeof *got) * (next + 1))
            return 0;
        at->count[i] = got[next++];
    }
    at->enabled[group] = got[1];
    at->exact[group] = 1;
    at->lost[group] = counters->lost[group] = got[1] - got[2];
    return 1;
}

/* ---- open and close ---- */

/* Closes the descriptors; called by the thread itself, or after its end. */
PERF_COLD_FN_ void perf_thread_counters_close_(perf_thread_counters_ *counters)
{
    int i;

    for (i = 0; i < PERF_COUNTED_EVENTS_; i++) {
        /* A forked child does not have its parent's pages. */
        if (counters->page[i] && counters->process == perf_process_id_())
            (void)perf_munmap_(PERF_PTR_(void *, PERF_PTR_(uintptr_t, counters->page[i])), 4096);
        if (perf_linux_event_is_ours_(counters->fd[i], counters->id[i]))
            (void)perf_close_(counters->fd[i]);
        counters->page[i] = PERF_NULL_;
        counters->fd[i] = -1;
    }
    counters->lead[0] = counters->lead[1] = -1;
    counters->open = 0;
}

/* The destructor of `key`: a thread has ended. */
PERF_COLD_FN_ void perf_thread_counters_at_exit_(void *of)
{
    perf_registry_ *reg = perf_registry_get_();

    if (reg && perf_lock_(reg)) {
        perf_thread_counters_close_(PERF_CAST_(perf_thread_counters_ *, of));
        perf_unlock_(&reg->lock);
    }
}

/* Closes the counters of threads that have ended, and after a fork those of the parent's threads;
 * lock held.  With a key, threads of this process have closed their own.                         */
PERF_COLD_FN_ void perf_thread_counters_sweep_(perf_counted_shared_ *shared)
{
    const uint32_t         process = perf_process_id_();
    perf_thread_counters_ *counters;

    for (counters = shared->threads; counters; counters = counters->next) {
        const int ours = counters->process == process;
        if ((ours && shared->has_key == 2) || counters->lead[0] < 0)
            continue;
        if (!ours || perf_thread_ended_(process, counters->thread))
            perf_thread_counters_close_(counters);
    }
    if (shared->threads && shared->threads->process != process)
        PERF_REL_(&shared->threads, PERF_CAST_(perf_thread_counters_ *, PERF_NULL_));
}

/* Opens an event of the calling thread for the program's own code; group -1: it leads one. */
PERF_COLD_FN_ int perf_thread_event_open_(int which, int group)
{
    static const uint32_t  type[PERF_COUNTED_EVENTS_] = {PERF_HARDWARE_, PERF_HARDWARE_,
                                                        PERF_CACHE_, PERF_HARDWARE_,
                                                        PERF_HARDWARE_};
    static const uint32_t  number[PERF_COUNTED_EVENTS_] = {1, 0, 0x10002, 5, 7};
    perf_linux_event_attr_ attr;
    int                    fd;

    PERF_LIBC_(memset)(&attr, 0, sizeof attr);
    attr.size = PERF_CAST_(uint32_t, sizeof attr);
    attr.type = type[which];
    attr.config = number[which];
    attr.read_format = PERF_LINUX_EVENT_TIMES_ | PERF_LINUX_EVENT_GROUPED_;
    attr.flags = PERF_LINUX_EVENT_NO_KERNEL_;
    if (group < 0)
        attr.flags |= PERF_LINUX_EVENT_DISABLED_;
    attr.config1 = PERF_LINUX_EVENT_USER_;
    fd = perf_linux_event_open_(&attr, 0, group);
    if (fd < 0 && PERF_LINUX_EVENT_USER_) {     /* then only read() can read it                   */
        attr.config1 = 0;
        fd = perf_linux_event_open_(&attr, 0, group);
    }
    return fd;
}

/* Opens those counters of a group that there is room for, and starts it. */
PERF_COLD_FN_ void perf_thread_group_open_(perf_counted_shared_ *shared,
                                           perf_thread_counters_ *counters, int group)
{
    perf_thread_reading_ at;
    void                *page;
    int                  i, fd;

    for (i = perf_thread_group_first_(group); i < perf_thread_group_end_(group); i++) {
        fd = perf_thread_event_open_(
            i, counters->lead[group] < 0 ? -1 : counters->fd[counters->lead[group]]);
        if (fd < 0) {
            if (!group)
                PERF_SET_(&shared->error[i], PERF_CAST_(uint32_t, -fd));
            continue;
        }
        counters->fd[i] = fd;
        counters->id[i] = perf_linux_event_id_(fd);
        page = perf_mmap_(PERF_NULL_, 4096, 1, 1, fd, 0);       /* PROT_READ, MAP_SHARED          */
        if (PERF_PTR_(intptr_t, page) != -1)
            counters->page[i] = PERF_CAST_(const perf_linux_event_page_ *, page);
        if (counters->lead[group] < 0)
            counters->lead[group] = i;
    }
    if (counters->lead[group] < 0)
        return;
    (void)perf_linux_event_ioctl_(counters->fd[counters->lead[group]], PERF_LINUX_EVENT_ENABLE_, 0);
    /* What was lost before it ran is known now: counters->lost[]. */
    (void)perf_thread_group_read_(counters, &at, group);
}

/* Opens both groups; evidence is of use only beside instructions and cycles. */
PERF_COLD_FN_ void perf_thread_both_groups_open_(perf_counted_shared_ *shared,
                                                 perf_thread_counters_ *counters)
{
    perf_thread_reading_ at;

    perf_thread_group_open_(shared, counters, 0);
    if (counters->lead[0] < 0)
        return;
    if (!perf_thread_group_read_(counters, &at, 0)) {
        perf_thread_counters_close_(counters);
        return;
    }
    PERF_SET_(&shared->some_count, 1u);
    if (counters->fd[PERF_COUNTED_INSTRUCTIONS_] >= 0 && counters->fd[PERF_COUNTED_CYCLES_] >= 0)
        perf_thread_group_open_(shared, counters, 1);
}

/* The counters of a recorder, made, or cleared for the recorder's new thread.  NULL: no memory, or
 * inside a handler. */
PERF_COLD_FN_ perf_thread_counters_ *perf_thread_counters_make_(perf_counted_shared_ *shared,
                                                                perf_recorder_ *rec)
{
    static const char *const titles[] = {"instructions", "cycles"};
    perf_registry_          *reg = rec->home;
    perf_thread_counters_   *counters = PERF_CAST_(perf_thread_counters_ *, rec->counters);
    perf_site_               site = PERF_ZERO;
    int                      i;

    if (!perf_lock_(reg))
        return PERF_NULL_;
    perf_thread_counters_sweep_(shared);
    if (shared->has_key == 0) {
        shared->has_key = 1;
        if (perf_key_make_ && perf_key_set_ &&
            !perf_key_make_(&shared->key, perf_thread_counters_at_exit_))
            shared->has_key = 2;
    }
    if (counters)
        perf_thread_counters_close_(counters);
    else
        counters = PERF_CAST_(perf_thread_counters_ *, perf_forever_(reg, sizeof *counters));
    if (counters && !rec->counters) {
        PERF_LIBC_(memset)(counters, 0, sizeof *counters);
        for (i = 0; i < PERF_COUNTED_EVENTS_; i++)
            counters->fd[i] = -1;
        counters->lead[0] = counters->lead[1] = -1;
        counters->next = shared->threads;
    }
    if (counters) {
        counters->number = rec->number;
        counters->thread = perf_thread_id_();
        PERF_SET_(&counters->process, perf_process_id_()); /* a report may look                   */
    }
    if (counters && !rec->counters)
        PERF_REL_(&shared->threads, counters);
    perf_unlock_(&reg->lock);
    rec->counters = counters;
    for (i = 0; counters && i < 2; i++) {
        site.name = titles[i];
        site.line = PERF_KIND_INSTANT_ << 24;
        site.id = 0;
        counters->name[i] = perf_site_id_(reg, &site);
    }
    return counters;
}

/* NULL: no memory, or a handler.  Where nothing counts at all, the sink goes. */
PERF_COLD_FN_ perf_thread_counters_ *perf_thread_counters_open_(perf_recorder_ *rec)
{
    perf_counted_shared_  *shared = &perf_counted_shared_v1_;
    perf_thread_counters_ *counters = perf_thread_counters_make_(shared, rec);
    uint32_t               error;
    int                    too_many;

    if (!counters)
        return PERF_NULL_;
    perf_source_add_(rec->home, &shared->source); /* a forked child has forgotten it              */
    perf_thread_both_groups_open_(shared, counters);
    if (shared->has_key == 2)
        (void)perf_key_set_(shared->key, counters);
    error = PERF_GET_(&shared->error[0]);
    too_many = error == 23 || error == 24;      /* ENFILE, EMFILE: later there may be room        */
    if (counters->lead[0] < 0 && !PERF_GET_(&shared->some_count) && !too_many)
        (void)perf_sink_set_(PERF_ACQ_(&shared->sink), PERF_NULL_);
    return counters;
}

/* ---- a scope ---- */

PERF_COLD_FN_ void perf_counted_scope_begin_(perf_recorder_ *rec, const perf_label_ *label,
                                             uint32_t depth)
{
    const int              errno_before = PERF_ERRNO_;
    const perf_cell_      *cell = rec->open;
    perf_thread_counters_ *counters = PERF_CAST_(perf_thread_counters_ *, rec->counters);
    perf_counted_frame_   *frame;

    if (!counters || counters->number != rec->number)
        counters = perf_thread_counters_open_(rec);
    while (cell && perf_cell_id_(cell) != label->name->site.id)
        cell = cell->parent;
    while (counters && counters->open && counters->frame[counters->open - 1].depth >= depth)
        counters->open--;                       /* these have had no end                          */
    if (counters && counters->lead[0] >= 0 && cell && !cell->again_open &&
        counters->open < PERF_COUNTED_SCOPE_FRAMES_) {
        frame = &counters->frame[counters->open++];
        frame->cell = cell;
        frame->depth = depth;
        frame->period = PERF_GET_(&perf_counted_shared_v1_.period);
        frame->at.known[1] = perf_thread_group_read_(counters, &frame->at, 1);
        /* last: the least of our own code */
        frame->at.known[0] = perf_thread_group_read_(counters, &frame->at, 0);
    }
    if (counters)
        rec->ranges = counters->open;
    PERF_ERRNO_ = errno_before;
}

/* What is kept of a cell, made at its first call; NULL: no memory, or inside a handler. */
PERF_COLD_FN_ perf_counted_scope_ *perf_counted_scope_of_cell_(perf_recorder_ *rec,
                                                               perf_thread_counters_ *counters,
                                                               const perf_cell_ *cell)
{
    perf_counted_scope_ **bucket =
        &counters->buckets[(PERF_PTR_(uintptr_t, cell) >> 6) % PERF_COUNTED_SCOPE_BUCKETS_];
    perf_counted_scope_  *scope = *bucket;

    while (scope && scope->cell != cell)
        scope = scope->next;
    if (!scope && !counters->spares && perf_lock_(rec->home)) {
        counters->spare =
            PERF_CAST_(perf_counted_scope_ *,
                       perf_forever_(rec->home,
                                     PERF_COUNTED_SCOPE_BLOCK_ * sizeof *counters->spare));
        counters->spares = counters->spare ? PERF_COUNTED_SCOPE_BLOCK_ : 0;
        perf_unlock_(&rec->home->lock);
    }
    if (!scope && counters->spares) {
        scope = counters->spare++;
        counters->spares--;
        PERF_LIBC_(memset)(scope, 0, sizeof *scope);
        scope->cell = cell;
        scope->next = *bucket;
        PERF_REL_(bucket, scope);
    }
    return scope;
}

/* A number of the scope that ends, for the trace. */
PERF_COLD_FN_ void perf_counted_scope_trace_(perf_recorder_ *rec, uint32_t name, uint64_t count,
                                             uint32_t depth)
{
    const uint64_t id = name;
    perf_event_    event[2];

    if (!rec->ring_limit || !name)
        return;
    event[0].start = perf_bits_(PERF_CAST_(double, count));
    event[0].what = PERF_REMARK_IS_VALUE_ | id << 8;
    event[1].start = perf_scope_ticks_(rec->home);
    event[1].what = id << 32 | PERF_CAST_(uint64_t, depth) << 56;
    PERF_ADD_(rec->ring_more, 1);
    perf_entries_put_(rec, event, 2);           /* the scope's own event looks whether it is due  */
}

/* Adds a group's counts of a call, scaled up where others had the counters for a part of its time.
 * They are in now->count[] then.                                                                 */
PERF_COLD_FN_ void perf_counted_scope_add_group_(perf_thread_counters_ *counters,
                                                 perf_counted_scope_ *scope,
                                                 const perf_counted_frame_ *frame,
                                                 perf_thread_reading_ *now, int group)
{
    const uint64_t lost = now->lost[group] - frame->at.lost[group];
    const uint64_t enabled = now->enabled[group] - frame->at.enabled[group];
    const int      enough = lost < enabled && enabled - lost >= enabled / PERF_COUNTED_SCOPE_SHARE_;
    double         scale = 1.0;
    int            i;

    now->known[group] = !lost || (frame->at.exact[group] && enough);
    if (!now->known[group]) {
        PERF_ADD_(scope->missed[group], 1);
        return;
    }
    if (lost) {
        scale = PERF_CAST_(double, enabled) / PERF_CAST_(double, enabled - lost);
        PERF_ADD_(scope->scaled[group], 1);
    }
    for (i = perf_thread_group_first_(group); i < perf_thread_group_end_(group); i++) {
        if (counters->fd[i] < 0)
            continue;
        now->count[i] -= frame->at.count[i];
        if (lost)
            now->count[i] = PERF_CAST_(uint64_t, PERF_CAST_(double, now->count[i]) * scale);
        PERF_ADD_(scope->count[i], now->count[i]);
        PERF_ADD_(scope->calls[i], 1);
    }
}

/* The period last: a report that reads meanwhile skips those of another one. */
PERF_COLD_FN_ void perf_counted_scope_clear_(perf_counted_scope_ *scope, uint64_t period)
{
    int i;

    for (i = 0; i < PERF_COUNTED_GROUPS_; i++) {
        PERF_SET_(&scope->scaled[i], UINT64_C(0));
        PERF_SET_(&scope->missed[i], UINT64_C(0));
    }
    for (i = 0; i < PERF_COUNTED_EVENTS_; i++) {
        PERF_SET_(&scope->calls[i], UINT64_C(0));
        PERF_SET_(&scope->count[i], UINT64_C(0));
    }
    PERF_REL_(&scope->period, period);
}

/* Adds a call; `now`: the readings at its end, which become what it has counted. */
PERF_COLD_FN_ void perf_counted_scope_add_call_(perf_recorder_ *rec,
                                                perf_thread_counters_ *counters,
                                                const perf_counted_frame_ *frame,
                                                perf_thread_reading_ *now)
{
    perf_counted_scope_ *scope = perf_counted_scope_of_cell_(rec, counters, frame->cell);
    int                  i;

    if (!scope)
        return;
    if (scope->period != frame->period)
        perf_counted_scope_clear_(scope, frame->period);
    for (i = 0; i < PERF_COUNTED_GROUPS_; i++) {
        now->known[i] = now->known[i] && frame->at.known[i];
        if (now->known[i])
            perf_counted_scope_add_group_(counters, scope, frame, now, i);
    }
    for (i = 0; i < PERF_COUNTED_EVIDENCE_ && now->known[0]; i++)
        if (counters->fd[i] >= 0)
            perf_counted_scope_trace_(rec, counters->name[i], now->count[i], frame->depth);
}

PERF_COLD_FN_ void perf_counted_scope_end_(perf_recorder_ *rec, uint32_t depth)
{
    const int                  errno_before = PERF_ERRNO_;
    perf_thread_counters_     *counters = PERF_CAST_(perf_thread_counters_ *, rec->counters);
    const perf_counted_frame_ *frame;
    perf_thread_reading_       now;

    rec->ranges = 0;
    if (!counters || counters->number != rec->number || !counters->open)
        return;
    now.known[0] = perf_thread_group_read_(counters, &now, 0);
    now.known[1] = perf_thread_group_read_(counters, &now, 1);
    while (counters->open && counters->frame[counters->open - 1].depth > depth)
        counters->open--;
    frame = &counters->frame[counters->open ? counters->open - 1 : 0];
    if (counters->open && frame->depth == depth) {
        counters->open--;
        if (frame->cell->parent == rec->open &&
            frame->period == PERF_GET_(&perf_counted_shared_v1_.period))
            perf_counted_scope_add_call_(rec, counters, frame, &now);
    }
    rec->ranges = counters->open;
    PERF_ERRNO_ = errno_before;
}

/* The rest of a sink: spans, marks and names of threads are not counted. */
PERF_COLD_FN_ int perf_counted_ignore_span_(const perf_label_ *label, uint64_t *range)
{
    (void)label, (void)range;
    return 0;
}

PERF_COLD_FN_ void perf_counted_ignore_span_end_(uint64_t range)
{
    (void)range;
}

PERF_COLD_FN_ void perf_counted_ignore_mark_(const perf_label_ *label)
{
    (void)label;
}

PERF_COLD_FN_ void perf_counted_ignore_thread_(const char *name)
{
    (void)name;
}

PERF_COLD_FN_ const perf_sink_ *perf_counted_scope_sink_(void)
{
    static const perf_sink_ sink = {
        sizeof(perf_sink_), perf_counted_scope_begin_, perf_counted_scope_end_,
        perf_counted_ignore_span_, perf_counted_ignore_span_end_, perf_counted_ignore_mark_,
        perf_counted_ignore_thread_, PERF_NULL_, PERF_NULL_,
    };

    return &sink;
}

/* ---- what scopes have counted, in a report ---- */

/* What the scopes of a path have counted in all threads: sums of perf_counted_scope_. */
typedef struct perf_counted_path_ {
    double scaled[PERF_COUNTED_GROUPS_], missed[PERF_COUNTED_GROUPS_];
    double calls[PERF_COUNTED_EVENTS_], count[PERF_COUNTED_EVENTS_];
} perf_counted_path_;

PERF_COLD_FN_ void perf_counted_path_add_(perf_counted_path_ *path,
                                          const perf_counted_scope_ *scope)
{
    int i;

    for (i = 0; i < PERF_COUNTED_GROUPS_; i++) {
        path->scaled[i] += PERF_CAST_(double, PERF_GET_(&scope->scaled[i]));
        path->missed[i] += PERF_CAST_(double, PERF_GET_(&scope->missed[i]));
    }
    for (i = 0; i < PERF_COUNTED_EVENTS_; i++) {
        path->calls[i] += PERF_CAST_(double, PERF_GET_(&scope->calls[i]));
        path->count[i] += PERF_CAST_(double, PERF_GET_(&scope->count[i]));
    }
}

/* Calls with either counter: a thread may have one of them. */
PERF_COLD_FN_ double perf_counted_path_calls_(const perf_counted_path_ *path)
{
    return path->calls[0] > path->calls[1] ? path->calls[0] : path->calls[1];
}

/* What each node of a tree has counted, with all below it: [tree->count] paths, which the caller
 * frees; NULL: no memory.                                                                        */
PERF_COLD_FN_ perf_counted_path_ *perf_counted_paths_of_tree_(perf_tree_ *tree)
{
    perf_counted_shared_  *shared = &perf_counted_shared_v1_;
    const uint64_t         period = PERF_GET_(&shared->period);
    const uint32_t         process = perf_process_id_();
    const size_t           bytes = tree->count * sizeof(perf_counted_path_);
    perf_counted_path_    *paths = PERF_CAST_(perf_counted_path_ *, PERF_MALLOC(bytes));
    perf_thread_counters_ *counters;
    perf_counted_scope_   *scope;
    uint32_t               i;

    if (!paths)
        return PERF_NULL_;
    PERF_LIBC_(memset)(paths, 0, bytes);
    for (counters = PERF_ACQ_(&shared->threads); counters; counters = counters->next) {
        if (PERF_GET_(&counters->process) != process)
            continue;                           /* of the parent of this forked child             */
        for (i = 0; i < PERF_COUNTED_SCOPE_BUCKETS_; i++)
            for (scope = PERF_ACQ_(&counters->buckets[i]); scope; scope = scope->next) {
                const uint32_t node = perf_tree_path_(tree, scope->cell);
                if (node && PERF_ACQ_(&scope->period) == period)
                    perf_counted_path_add_(&paths[node], scope);        /* else new, or forgotten */
            }
    }
    return paths;
}

/* The tree of all scopes, and what each of its *nodes nodes has counted; the caller frees both.  No
 * memory: NULL, and *nodes is 0.                                                                 */
PERF_COLD_FN_ perf_counted_path_ *perf_counted_paths_make_(perf_tree_ **tree, uint32_t *nodes)
{
    perf_counted_path_ *paths = PERF_NULL_;

    *nodes = 0;
    *tree = perf_tree_make_(perf_registry_get_());
    if (*tree)
        paths = perf_counted_paths_of_tree_(*tree);
    if (paths)
        *nodes = (*tree)->count;
    return paths;
}

/* figure[3] of a call: instructions, cycles, instructions per cycle; NaN: not known. */
PERF_COLD_FN_ void perf_counted_path_figures_(const perf_counted_path_ *path, double *figure)
{
    int i;

    figure[2] = PERF_NAN_;
    for (i = 0; i < 2; i++) {
        figure[i] = PERF_NAN_;
        if (path->calls[i] > 0.0)
            figure[i] = path->count[i] / path->calls[i];
    }
    if (figure[1] > 0.0)
        figure[2] = figure[0] / figure[1];
}

PERF_FN const char *perf_counted_path_name_(const perf_tree_ *tree, uint32_t node)
{
    return PERF_ACQ_(&tree->registry->names)[tree->node[node].name]->site.name;
}

PERF_COLD_FN_ void perf_put_counted_path_row_(perf_table_ *table, const perf_tree_ *tree,
                                              uint32_t node, const perf_counted_path_ *path)
{
    const char *name = perf_counted_path_name_(tree, node);
    char        text[64];
    perf_out_   out = perf_out_open_(text, sizeof text);
    size_t      indent = 2 * (tree->node[node].depth - 1);
    double      figure[3];
    int         i;

    if (indent > 20)                            /* the name has 12 columns                        */
        indent = 20;
    perf_put_blanks_(&out, indent);
    (void)perf_put_cut_(&out, name, 40);
    perf_table_text_(table, text);
    perf_table_fixed_(table, perf_counted_path_calls_(path), 0);
    perf_counted_path_figures_(path, figure);
    for (i = 0; i < 3; i++) {
        if (perf_is_nan_(figure[i]))
            perf_table_text_(table, "-");
        else
            perf_table_fixed_(table, figure[i], i == 2 ? 2 : 0);
    }
    perf_table_row_end_(table);
}

PERF_COLD_FN_ void perf_put_counted_paths_note_(perf_out_ *out, double calls, const char *what)
{
    if (calls > 0.0) {
        perf_put_number_(out, "note: ", calls, 0);
        perf_put_(out, what);
    }
}

/* The list below table and tree: a call of each path. */
PERF_COLD_FN_ void perf_put_counted_paths_list_(perf_out_ *out)
{
    static const perf_column_ column[] = {{"counted, of a call", 32, 0, 0}, {"calls", 10, 0, 0},
                                          {"instructions", 14, 0, 0},       {"cycles", 14, 0, 0},
                                          {"IPC", 7, 0, 0}};
    perf_table_         table = perf_table_open_(out, column, 5);
    perf_tree_         *tree;
    uint32_t            nodes, i;
    perf_counted_path_ *paths = perf_counted_paths_make_(&tree, &nodes), *one;
    double              scaled = 0.0, missed = 0.0;
    int                 titles = 0;

    out->failed |= !paths;                      /* perf_report_to says PERF_ENOMEM                */
    for (i = 1; i < nodes; i++) {
        one = &paths[i];
        scaled += one->scaled[0];
        missed += one->missed[0];
        if (!(perf_counted_path_calls_(one) > 0.0))
            continue;
        if (!titles++)
            perf_table_head_(&table);
        perf_put_counted_path_row_(&table, tree, i, one);
    }
    PERF_FREE(paths);
    PERF_FREE(tree);
    if (perf_put_scopes_missing_(out, "note: counters of scopes: no ",
                                 perf_counted_shared_v1_.error))
        perf_put_char_(out, '\n');
    perf_put_counted_paths_note_(out, scaled,
                                 " calls had counters for a part of their time: scaled up\n");
    perf_put_counted_paths_note_(out, missed,
                                 " calls had counters for under 5 % of their time: left out\n");
}

/* ["step","read"] */
PERF_COLD_FN_ void perf_put_counted_path_names_(perf_writer_ *json, const perf_tree_ *tree,
                                                uint32_t node)
{
    if (tree->node[node].parent)
        perf_put_counted_path_names_(json, tree, tree->node[node].parent);
    perf_member_text_(json, PERF_NULL_, perf_counted_path_name_(tree, node));
}

PERF_COLD_FN_ void perf_put_counted_path_members_(perf_writer_ *json,
                                                  const perf_counted_path_ *path)
{
    static const char *const keys[] = {"instructions", "cycles", "ipc"};
    static const char *const more[] = {"llc_misses", "branch_misses", "front_end_stalls"};
    double                   figure[3];
    int                      i;

    perf_member_fixed_(json, "calls", perf_counted_path_calls_(path), 0);
    perf_member_fixed_(json, "scaled", path->scaled[0], 0);
    perf_member_fixed_(json, "missed", path->missed[0], 0);
    perf_counted_path_figures_(path, figure);
    for (i = 0; i < 3; i++)
        perf_member_fixed_(json, keys[i], figure[i], 3);
    for (i = 0; i < PERF_LOST_; i++)
        if (path->calls[PERF_COUNTED_EVIDENCE_ + i] > 0.0)
            perf_member_fixed_(json, more[i], path->count[PERF_COUNTED_EVIDENCE_ + i] /
                                              path->calls[PERF_COUNTED_EVIDENCE_ + i], 3);
}

PERF_COLD_FN_ void perf_put_counted_paths_json_(perf_out_ *out)
{
    char                text[400];
    perf_out_           why = perf_out_open_(text, sizeof text);
    perf_writer_        json = {PERF_NULL_, 1, 1};
    perf_tree_         *tree;
    uint32_t            nodes, i;
    perf_counted_path_ *paths = perf_counted_paths_make_(&tree, &nodes), *one;

    json.out = out;
    out->failed |= !paths;
    perf_member_open_(&json, "counters", '[');
    for (i = 1; i < nodes; i++) {
        one = &paths[i];
        if (!(perf_counted_path_calls_(one) > 0.0))
            continue;
        json.line = 1;
        perf_member_open_(&json, PERF_NULL_, '{');
        perf_member_open_(&json, "path", '[');
        perf_put_counted_path_names_(&json, tree, i);
        perf_member_close_(&json, ']');
        perf_put_counted_path_members_(&json, one);
        perf_member_close_(&json, '}');
    }
    perf_member_close_(&json, ']');
    PERF_FREE(paths);
    PERF_FREE(tree);
    if (perf_put_scopes_missing_(&why, "no ", perf_counted_shared_v1_.error)) {
        json.line = 1;
        perf_member_text_(&json, "counters_missing", text);
    }
}

PERF_COLD_FN_ void perf_put_counted_paths_(perf_out_ *out, int json)
{
    if (json)
        perf_put_counted_paths_json_(out);
    else
        perf_put_counted_paths_list_(out);
}

PERF_COLD_FN_ void perf_counted_scopes_reset_(void)
{
    PERF_SET_(&perf_counted_shared_v1_.period, perf_counted_shared_v1_.period + 1);
}

/* ---- evidence for the diagnosis ---- */

/* At most so many of the cycles were lost to `count` events of a cause.
 * 180 a miss of the last cache, 20 a wrong guess: FreeBSD's pmcstudy(8), for Intel's Sandy Bridge.
 * Misses overlap, so they cost no more.  And four instructions take one cycle that is not lost
 * (Yasin, A Top-Down Method for Performance Analysis, ISPASS 2014).
 * Misses count below one instruction a cycle (Gregg, CPU Utilization is Wrong, 2017).            */
PERF_COLD_FN_ double perf_counted_lost_cycles_(int cause, double count, double instructions,
                                               double cycles)
{
    static const double each[PERF_LOST_] = {180, 20, 1};
    const double        left = cycles - instructions / 4;
    double              lost = count * each[cause];

    if (cause == 0 && instructions >= cycles)
        return 0;
    if (lost > left)
        lost = left;
    return lost > 0 ? lost : 0;
}

/* 1: `node` is `above`, or below it. */
PERF_COLD_FN_ int perf_counted_path_is_below_(const perf_tree_ *tree, uint32_t node, uint32_t above)
{
    while (node && node != above)
        node = tree->node[node].parent;
    return node != 0;
}

/* What a cause has cost in the unit's scopes.  exclusive[]: each scope without what it calls. */
PERF_COLD_FN_ void perf_counted_path_lost_(perf_evidence_ *evidence,
                                           const perf_counted_path_ *exclusive, uint32_t nodes,
                                           const perf_counted_path_ *unit, int cause)
{
    const int  which = PERF_COUNTED_EVIDENCE_ + cause;
    perf_lost *lost = &evidence->counted.lost[cause];
    double     all = 0.0, most = 0.0;
    uint32_t   i;

    lost->share = lost->per_1000 = lost->ipc = PERF_NAN_;
    lost->scope = "";
    if (!(unit->calls[which] > 0.0))
        return;
    for (i = 1; i < nodes; i++) {
        const double *count = exclusive[i].count;
        const double  cycles = count[PERF_COUNTED_CYCLES_];
        const double  cost = perf_counted_lost_cycles_(cause, count[which],
                                                       count[PERF_COUNTED_INSTRUCTIONS_], cycles);
        if (!(cost > 0.0) || !(count[PERF_COUNTED_INSTRUCTIONS_] > 0.0) ||
            !perf_counted_path_is_below_(evidence->tree, i, evidence->unit))
            continue;
        all += cost;
        if (cost <= most)
            continue;
        most = cost;
        evidence->lost_in[cause] = i;
        lost->scope = perf_counted_path_name_(evidence->tree, i);
        lost->ipc = count[PERF_COUNTED_INSTRUCTIONS_] / cycles;
        lost->per_1000 = 1000.0 * count[which] / count[PERF_COUNTED_INSTRUCTIONS_];
    }
    lost->share = all / unit->count[PERF_COUNTED_CYCLES_];
    evidence->lost_there[cause] = most / unit->count[PERF_COUNTED_CYCLES_];
}

/* Scales evidence to the calls that have counted cycles: others' turns leave either group out of
 * some calls.                                                                                    */
PERF_COLD_FN_ void perf_counted_path_match_calls_(perf_counted_path_ *path)
{
    const double calls = path->calls[PERF_COUNTED_CYCLES_];
    int          i;

    for (i = PERF_COUNTED_EVIDENCE_; i < PERF_COUNTED_EVENTS_; i++)
        if (path->calls[i] > 0.0)
            path->count[i] *= calls / path->calls[i];
}

/* What the processor counted in a unit; nothing below eight counted calls. */
PERF_COLD_FN_ void perf_counted_scopes_evidence_(perf_evidence_ *evidence, double total_ns)
{
    perf_counted_path_ *exclusive = PERF_NULL_; /* of each node, without what it calls            */
    perf_counted_path_  unit;
    uint32_t            nodes = 0, i;
    int                 which;

    (void)total_ns;
    if (evidence->tree)
        nodes = evidence->tree->count;
    if (nodes)
        exclusive = perf_counted_paths_of_tree_(evidence->tree);
    if (!exclusive)
        return;
    for (i = 1; i < nodes; i++)
        perf_counted_path_match_calls_(&exclusive[i]);
    unit = exclusive[evidence->unit];
    for (i = 1; i < nodes; i++)                 /* callers come before what they call             */
        for (which = 0; which < PERF_COUNTED_EVENTS_; which++)
            exclusive[evidence->tree->node[i].parent].count[which] -= exclusive[i].count[which];
    if (unit.calls[PERF_COUNTED_CYCLES_] >= 8.0 && unit.count[PERF_COUNTED_INSTRUCTIONS_] > 0.0 &&
        unit.count[PERF_COUNTED_CYCLES_] > 0.0) {
        evidence->counted.calls = PERF_CAST_(uint64_t, unit.calls[PERF_COUNTED_CYCLES_]);
        evidence->counted.scaled =
            PERF_CAST_(uint64_t, perf_most_(unit.scaled[0], unit.scaled[1]));
        evidence->counted.ipc =
            unit.count[PERF_COUNTED_INSTRUCTIONS_] / unit.count[PERF_COUNTED_CYCLES_];
        for (which = 0; which < PERF_LOST_; which++)
            perf_counted_path_lost_(evidence, exclusive, nodes, &unit, which);
    }
    PERF_FREE(exclusive);
}

/* ---- on and off ---- */

PERF_COLD_FN_ perf_status perf_counted_scopes_on_(void)
{
    perf_counted_shared_ *shared = &perf_counted_shared_v1_;
    perf_registry_       *reg = perf_registry_read_();
    const perf_sink_     *other;
    perf_status           status;
    int                   first;

    if (!reg || !perf_lock_(reg))
        return PERF_ENOMEM;
    shared->users++;
    first = shared->users == 1;
    if (first) {
        shared->source.report = perf_put_counted_paths_;
        shared->source.reset = perf_counted_scopes_reset_;
        shared->source.evidence = perf_counted_scopes_evidence_;
        PERF_REL_(&shared->sink, perf_counted_scope_sink_());
    }
    perf_unlock_(&reg->lock);
    if (!first)                                 /* the sink is there                              */
        return PERF_OK;
    perf_image_pin_();
    perf_source_add_(reg, &shared->source);
    other = PERF_ACQ_(&reg->sink);
    if (other && other->listens)
        (void)other->listens();                 /* a profiler without a tool goes now             */
    status = perf_sink_set_(PERF_NULL_, perf_counted_scope_sink_());
    if (status != PERF_OK && perf_lock_(reg)) {
        shared->users--;
        perf_unlock_(&reg->lock);
    }
    return status;
}

/* The sink goes under the lock: else who begins meanwhile finds it there, and is refused. */
PERF_COLD_FN_ void perf_counted_scopes_off_(void)
{
    perf_counted_shared_ *shared = &perf_counted_shared_v1_;
    perf_registry_       *reg = perf_registry_get_();

    if (!reg || !perf_lock_(reg))
        return;
    if (shared->users && !--shared->users && reg->sink == shared->sink) {
        PERF_REL_(&reg->sink, PERF_CAST_(const perf_sink_ *, PERF_NULL_));
        perf_ask_(reg, PERF_ASK_TRACE_);
    }
    perf_unlock_(&reg->lock);
}

#else
/* A line of the reports, or members of JSON: why nothing is counted. */
PERF_COLD_FN_ void perf_put_counted_paths_(perf_out_ *out, int json)
{
    static const uint32_t none[2] = {0, 0};
    char                  text[400];
    perf_out_             why = perf_out_open_(text, sizeof text);
    perf_writer_          members = {PERF_NULL_, 1, 1};

    (void)perf_put_scopes_missing_(&why, "no ", none);
    if (json) {
        members.out = out;
        perf_member_open_(&members, "counters", '[');
        perf_member_close_(&members, ']');
        perf_member_text_(&members, "counters_missing", text);
        return;
    }
    perf_put_(out, "note: counters of scopes: ");
    perf_put_(out, text);
    perf_put_char_(out, '\n');
}

/* Adds the note to the reports, once in a program: 4 in heard_more. */
PERF_COLD_FN_ perf_status perf_counted_scopes_on_(void)
{
    static perf_source_ source;
    perf_registry_     *reg = perf_registry_read_();

    if (!reg || !perf_lock_(reg))
        return PERF_ENOMEM;
    if (PERF_GET_(&reg->heard_more) & 4u) {
        perf_unlock_(&reg->lock);
        return PERF_ENODATA;
    }
    PERF_SET_(&reg->heard_more, PERF_GET_(&reg->heard_more) | 4u);
    source.report = perf_put_counted_paths_;
    perf_unlock_(&reg->lock);
    perf_image_pin_();
    perf_source_add_(reg, &source);
    return PERF_ENODATA;
}

PERF_COLD_FN_ void perf_counted_scopes_off_(void)
{
}
#endif

#if defined(PERF_AT_EXIT) && PERF_AT_EXIT && !PERF_DISABLE && defined(__GNUC__)
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_counted_scopes_at_start_(void)
{
    const char     *asked = perf_getenv_("PERF_COUNTERS");
    perf_registry_ *reg = asked && *asked ? perf_registry_read_() : PERF_NULL_;

    if (!reg)
        return;
    if (PERF_GET_(&reg->heard_more) & 2u)       /* another file of the program has begun it       */
        return;
    PERF_SET_(&reg->heard_more, PERF_GET_(&reg->heard_more) | 2u);
    if (PERF_LIBC_(strcmp)(asked, "0") && perf_counted_scopes_on_() == PERF_ESTATE)
        (void)fprintf(stderr, "perf.h: PERF_COUNTERS: a profiler has the scopes, they count "
                              "nothing\n");
}
#endif

PERF_END_DECLS

#endif /* PERF_COUNTERS_H */
