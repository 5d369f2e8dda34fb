/* perf_activity.h - kernels and copies without marks: what a profiler's library records of them
 *
 *     static const perf_activity_library_ library = {"CUPTI", "PERF_CUPTI", 1, 0,
 *                                                    sizeof(my_calls), my_begin};
 *     status = perf_activity_start_(&library, NULL);  // on each launch perf_activity_launch_(),
 *                                                     // for each record perf_activity_add_()
 *
 * For the library itself: perf_cupti.h and perf_rocprofiler.h fill it.  Each kernel is a row of the
 * report by its own name and stands in the trace; a table says in which scope it was launched, and
 * how long after that it began.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_ACTIVITY_H
#define PERF_ACTIVITY_H

#include "perf_gpu_driver.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_activity_, perf_activity_library_, perf_activity_why_  what is kept; a profiler; its
 *                                               refusal
 *   perf_activity_start_, perf_activity_asked_  starts one; where the environment asks for it
 *   perf_activity_launch_                       a launch begins, or has returned
 *   perf_activity_work_, PERF_ACTIVITY_*_       one record, and what it tells of
 *   perf_activity_add_                          takes one record, under the lock                 */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

#if PERF_DL_ && !PERF_DISABLE

/* ---- what is kept ----
 * Each launch leaves its correlation id, the innermost scope and both clocks in a ring.  A profiler
 * hands over records some time later, on any thread.  A record's id leads to the ring's entry,
 * which gives its scope and the host's time.                                                     */

#define PERF_ACTIVITY_LAUNCHES_ 65536u
#define PERF_ACTIVITY_NAMES_    1024u
#define PERF_ACTIVITY_ROWS_     2048u
#define PERF_ACTIVITY_TRACKS_   64u
#define PERF_ACTIVITY_DEVICES_  16u
#define PERF_ACTIVITY_SPANS_    256u
#define PERF_ACTIVITY_SOURCES_  2       /* 0: CUPTI, 1: rocprofiler                               */

typedef struct perf_activity_launched_ {    /* one call of the API, written by its thread         */
    uint64_t key;                       /* correlation id : 32, name id of the open scope : 32    */
    uint64_t begin, took;               /* ticks; took 0: it has not returned                     */
    uint64_t ns;                        /* the moment of `begin`, on the profiler's clock         */
    uint64_t ran;                       /* ns of its kernels so far; a graph's launch has many    */
    uint32_t kernels, resets;           /* how many; as perf_activity_.resets when they came      */
} perf_activity_launched_;

typedef struct perf_activity_name_ {
    const char *text;                   /* the profiler's; only compared                          */
    uint64_t    hash;                   /* of the text: another kernel's may lie there later      */
    uint32_t    id, spare;
} perf_activity_name_;

typedef struct perf_activity_row_ {     /* a kernel or a kind of copy, launched in one scope      */
    uint32_t name, scope;               /* ids; scope 0: in none; name 0: free                    */
    uint64_t calls, bytes, ns;
    uint64_t waited;                    /* ns from launch to start, summed over `placed` calls    */
    uint64_t placed;                    /* whose launch is known                                  */
    uint32_t shown, spare;
} perf_activity_row_;

/* The device works from `from` to `to`, but for the gaps; times in ns. */
typedef struct perf_activity_span_ {
    uint64_t from, to;
    uint64_t waited;                    /* by its first record, from launch to start; UINT64_MAX: */
                                        /* that launch is not known                               */
    uint64_t gaps, idle, longest;       /* how many, together, the longest one                    */
    uint64_t starved;                   /* of them: nothing was launched                          */
    uint32_t name, longest_name;        /* of its first record; of what ended the longest gap     */
} perf_activity_span_;

/* A device's times at work: spans in order, with gaps between them.  Records may come late, and in
 * any order, so a gap may be filled later.  Where there are too many spans, old ones are joined,
 * and the gaps between them become gaps inside. */
typedef struct perf_activity_device_ {
    uint32_t            number, known, count, spare;
    uint64_t            sum, copies;    /* ns of all records; of the copies among them            */
    perf_activity_span_ span[PERF_ACTIVITY_SPANS_];
} perf_activity_device_;

typedef struct perf_activity_track_ {   /* a stream                                               */
    uint32_t        device, stream;
    perf_recorder_ *recorder;
    uint64_t        until;              /* end of the last one in the trace, ticks                */
} perf_activity_track_;

/* The C++ runtime's __cxa_demangle. */
typedef char *perf_activity_demangle_(const char *, char *, size_t *, int *);

/* One for all images of the process, hung into perf_gpu_driver_; never freed.  The threads of the
 * profiler are not in a forked child, so nobody calls it there.  The child sees zeros here, or,
 * where the system wipes no pages, the number of its parent.                                     */
typedef struct perf_activity_ {
    uint32_t    lock;                   /* of all sums; never held over a call of the profiler's  */
    uint32_t    starting;               /* the thread that is inside a start function             */
    uint32_t    on;                     /* PERF_ACTIVITY_RECORDS_, _ENDED_; 0: neither.  Written  */
                                        /* last by a start: who acquires it sees the rest         */
    uint32_t    process;                /* that started it                                        */
    const char *by;                     /* the profiler that runs, or that `said` is of: "CUPTI"  */
    void       *calls[PERF_ACTIVITY_SOURCES_];  /* each library's functions; of its header        */
    void       *used;                   /* those of `by`                                          */
    int       (*timestamp)(uint64_t *); /* ns by the clock of the records; 0 or an error          */
    void      (*flush)(void *calls, int last);  /* hands over the records of what has ended       */
    perf_activity_demangle_ *demangle;  /* NULL: names stay as they are                           */
    uint64_t    birth;                  /* ticks of the last reset                                */
    uint64_t    soon;                   /* ticks of 10 us                                         */
    uint64_t    untimed, dropped, unplaced, rowless, lineless;  /* records, see _report_          */
    uint64_t    kernels, short_kernels; /* whose launch is known; of them: it took longer than    */
                                        /* all kernels of that launch together                    */
    uint32_t    rows, tracks, devices, resets;
    perf_activity_name_   name[PERF_ACTIVITY_NAMES_];
    perf_activity_row_    row[PERF_ACTIVITY_ROWS_];
    perf_activity_track_  track[PERF_ACTIVITY_TRACKS_];
    perf_activity_device_ device[PERF_ACTIVITY_DEVICES_];
    perf_activity_launched_ newest;     /* the newest pair of both clocks                         */
    char                  said[240];    /* why it does not run; "": nobody asked, or it does      */
    perf_activity_launched_ launch[PERF_ACTIVITY_LAUNCHES_];
} perf_activity_;

/* What a record tells of; up to PERF_ACTIVITY_PEER_: directions of copies, as CUPTI counts them. */
enum {
    PERF_ACTIVITY_COPY_ = 0,            /* its direction is not known                             */
    PERF_ACTIVITY_IN_ = 1,              /* to the device                                          */
    PERF_ACTIVITY_OUT_ = 2,
    PERF_ACTIVITY_ON_ = 8,              /* on the device                                          */
    PERF_ACTIVITY_HOST_ = 9,            /* from host to host                                      */
    PERF_ACTIVITY_PEER_ = 10,           /* from device to device                                  */
    PERF_ACTIVITY_FILL_ = 11,
    PERF_ACTIVITY_KERNEL_ = 12,
    PERF_ACTIVITY_NO_STREAM_ = 0x7fffff00       /* + what: the stream of copies, where a profiler */
                                        /* tells none                                             */
};

/* perf_activity_.on */
enum { PERF_ACTIVITY_RECORDS_ = 1, PERF_ACTIVITY_ENDED_ = 2 };  /* ended: the process ends        */

#define PERF_ACTIVITY_UNKNOWN_ UINT32_MAX       /* the scope, where the launch is not known       */

/* One record, whatever it is. */
typedef struct perf_activity_work_ {
    uint64_t start, end, bytes;         /* ns                                                     */
    uint32_t device, stream, correlation, what;     /* what: PERF_ACTIVITY_                       */
    const char *text;                   /* a kernel's name, where `name` is 0                     */
    uint32_t name, scope;               /* ids                                                    */
    uint64_t at, waited, took;          /* ticks on the host; ns; ticks                           */
    int      placed;
} perf_activity_work_;

/* Why a profiler does not run. */
typedef struct perf_activity_why_ {
    const char *text;                   /* NULL: that of an earlier attempt stays                 */
    int         code;                   /* of the profiler, 0: it has not been asked              */
    const char *error;                  /* its name of the code, or NULL                          */
} perf_activity_why_;

/* A profiler's library, as a header of its own knows it. */
typedef struct perf_activity_library_ {
    const char *by;                     /* its name in reports                                    */
    const char *variable;               /* of the environment that asks for it: 1, a path, 0      */
    uint32_t    heard;                  /* bit of perf_registry_.heard_more for that variable     */
    uint32_t    slot;                   /* of its functions in perf_activity_.calls               */
    size_t      calls;                  /* bytes of the struct for its functions                  */
    /* Fills in calls, timestamp and flush, and lets records come; or fills in why not. */
    perf_status (*begin)(perf_activity_ *activity, const char *path, perf_activity_why_ *why);
} perf_activity_library_;

/* NULL: nobody has asked for it. */
PERF_COLD_FN_ perf_activity_ *perf_activity_if_any_(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();

    if (!driver)
        return PERF_NULL_;
    return PERF_CAST_(perf_activity_ *, PERF_ACQ_(&driver->activity));
}

/* ---- parts, in the order of their bodies ---- */

PERF_COLD_DECL_ perf_status perf_activity_start_(const perf_activity_library_ *library,
                                                 const char *path);
PERF_COLD_DECL_ perf_activity_ *perf_activity_get_(void);
PERF_COLD_DECL_ void perf_activity_listen_(perf_gpu_driver_ *driver);
PERF_COLD_DECL_ perf_status perf_activity_try_(perf_activity_ *activity,
                                               const perf_activity_library_ *library,
                                               const char *path);
PERF_COLD_DECL_ void perf_activity_say_(perf_activity_ *activity, const char *by,
                                        const perf_activity_why_ *why);
PERF_COLD_DECL_ perf_activity_demangle_ *perf_activity_find_names_(void);
PERF_COLD_DECL_ void perf_activity_end_(void *state);
PERF_COLD_DECL_ int perf_activity_clocks_(const perf_activity_ *activity, uint64_t *ticks,
                                          uint64_t *ns);
PERF_COLD_DECL_ uint32_t perf_activity_copy_name_(uint32_t what);
PERF_COLD_DECL_ uint32_t perf_activity_name_of_(perf_activity_ *activity, const char *text);
PERF_COLD_DECL_ int perf_activity_timed_(const perf_activity_ *activity,
                                         const perf_activity_work_ *work);
PERF_COLD_DECL_ void perf_activity_place_(perf_activity_ *activity, perf_activity_work_ *work);
PERF_COLD_DECL_ void perf_activity_compare_(perf_activity_ *activity,
                                            const perf_activity_work_ *work);
PERF_COLD_DECL_ int perf_activity_record_(perf_activity_ *activity,
                                          const perf_activity_work_ *work);
PERF_COLD_DECL_ perf_activity_track_ *perf_activity_track_of_(perf_activity_ *activity,
                                                              const perf_activity_work_ *work);
PERF_COLD_DECL_ void perf_activity_device_add_(perf_activity_ *activity,
                                               const perf_activity_work_ *work);
PERF_COLD_DECL_ void perf_activity_span_add_(perf_activity_device_ *device,
                                             const perf_activity_work_ *work);
PERF_COLD_DECL_ void perf_activity_cover_(perf_activity_span_ *span,
                                          const perf_activity_span_ *older);
PERF_COLD_DECL_ void perf_activity_thin_(perf_activity_device_ *device);
PERF_COLD_DECL_ void perf_activity_join_(perf_activity_span_ *span,
                                         const perf_activity_span_ *next);
PERF_COLD_DECL_ perf_activity_row_ *perf_activity_row_of_(perf_activity_ *activity, uint32_t name,
                                                          uint32_t scope);
PERF_COLD_DECL_ void perf_activity_collect_(perf_registry_ *reg);
PERF_COLD_DECL_ void perf_activity_reset_(void);
PERF_COLD_DECL_ void perf_activity_report_(perf_out_ *out, int json);
PERF_COLD_DECL_ double perf_activity_sum_(const perf_activity_ *activity);
PERF_COLD_DECL_ void perf_activity_put_rows_(perf_out_ *out, perf_activity_ *activity, double sum);
PERF_COLD_DECL_ perf_activity_row_ *perf_activity_most_(perf_activity_ *activity);
PERF_COLD_DECL_ void perf_activity_put_row_(perf_table_ *table, const perf_activity_row_ *row,
                                            double sum);
PERF_COLD_DECL_ const char *perf_activity_text_(uint32_t id);
PERF_COLD_DECL_ void perf_activity_put_device_(perf_out_ *out, const perf_activity_device_ *device,
                                               const char *by);
PERF_COLD_DECL_ void perf_activity_put_share_(perf_out_ *out, perf_activity_ *activity, double sum);
PERF_COLD_DECL_ void perf_activity_tells_(perf_evidence_ *evidence, double total_ns);
PERF_COLD_DECL_ perf_activity_span_ perf_activity_whole_of_(const perf_activity_device_ *device);

/* ---- start ---- */

/* Before main: starts a profiler if the environment asks for it. */
PERF_COLD_FN_ void perf_activity_asked_(const perf_activity_library_ *library)
{
    const char     *asked = perf_getenv_(library->variable), *path = PERF_NULL_;
    perf_registry_ *reg;

    if (!asked || !*asked)
        return;
    reg = perf_registry_read_();
    if (reg)
        PERF_SET_(&reg->heard_more, PERF_GET_(&reg->heard_more) | library->heard);
    if (PERF_LIBC_(strcmp)(asked, "1"))
        path = asked;
    if (PERF_LIBC_(strcmp)(asked, "0"))
        (void)perf_activity_start_(library, path);
}

/* Records of that profiler from now on; path: of its library, NULL: the usual ones. */
PERF_COLD_FN_ perf_status perf_activity_start_(const perf_activity_library_ *library,
                                               const char *path)
{
    perf_activity_ *activity = perf_activity_get_();
    perf_status     status = PERF_OK;

    if (!activity)
        return PERF_ENOMEM;
    if (!perf_lock_word_(&activity->starting, 1)) /* this very thread is inside, in a handler     */
        return PERF_ESTATE;
    perf_activity_listen_(perf_gpu_driver_get_());
    if (!PERF_ACQ_(&activity->on))
        status = perf_activity_try_(activity, library, path);
    else if (PERF_LIBC_(strcmp)(activity->by, library->by))
        status = PERF_ESTATE;
    perf_unlock_(&activity->starting);
    return status;
}

/* NULL without memory. */
PERF_COLD_FN_ perf_activity_ *perf_activity_get_(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    perf_registry_   *reg = perf_registry_read_();
    perf_activity_   *activity;

    if (!driver || !reg)
        return PERF_NULL_;
    activity = PERF_CAST_(perf_activity_ *, PERF_ACQ_(&driver->activity));
    if (!activity && perf_lock_(reg)) {
        activity = PERF_CAST_(perf_activity_ *, driver->activity);
        if (!activity)
            activity = PERF_CAST_(perf_activity_ *, perf_pages_(sizeof *activity, 1));
        PERF_REL_(&driver->activity, PERF_CAST_(void *, activity));
        perf_unlock_(&reg->lock);
    }
    return activity;
}

/* Reports, traces and diagnoses ask us from now on.  The fields are set once: others read them. */
PERF_COLD_FN_ void perf_activity_listen_(perf_gpu_driver_ *driver)
{
    perf_source_ *source = &driver->activity_source;

    if (!source->collect) {
        source->collect = perf_activity_collect_;
        source->report = perf_activity_report_;
        source->reset = perf_activity_reset_;
        source->evidence = perf_activity_tells_;
    }
    perf_source_add_(perf_registry_get_(), source);
}

/* Runs before the profiler's own clean-up, so it can still be flushed.  Then comes the report. */
extern int perf_activity_at_exit_(void (*)(void *), void *, void *)
    __asm__(PERF_SYM_("__cxa_atexit"));

/* Tries to start a profiler; one thread at a time, only while none runs. */
PERF_COLD_FN_ perf_status perf_activity_try_(perf_activity_ *activity,
                                             const perf_activity_library_ *library,
                                             const char *path)
{
    perf_activity_demangle_ *demangle;
    perf_activity_why_       why = PERF_ZERO;
    perf_status              status;
    uint64_t                 ticks = 0, ns = 0;
    double                   soon;

    if (!activity->calls[library->slot])
        activity->calls[library->slot] = perf_pages_(library->calls, 1);
    if (!activity->calls[library->slot])
        return PERF_ENOMEM;
    if (!perf_lock_word_(&activity->lock, 1))   /* this very thread is in a report, below a       */
        return PERF_ESTATE;                     /* handler                                        */
    activity->used = activity->calls[library->slot];
    perf_unlock_(&activity->lock);
    status = library->begin(activity, path, &why);
    if (status != PERF_OK) {
        perf_activity_say_(activity, library->by, &why);
        return status;
    }
    demangle = perf_activity_find_names_();
    soon = 10000 / perf_scope_tick_ns_(perf_registry_get_());
    PERF_SET_(&activity->soon, PERF_CAST_(uint64_t, soon));
    (void)perf_activity_clocks_(activity, &ticks, &ns);
    if (perf_lock_word_(&activity->lock, 1)) {
        activity->by = library->by;
        activity->demangle = demangle;
        PERF_SET_(&activity->process, perf_process_id_());
        activity->newest.begin = ticks;
        activity->newest.ns = ns;
        activity->said[0] = '\0';
        perf_unlock_(&activity->lock);
    }
    PERF_REL_(&activity->on, PERF_CAST_(uint32_t, PERF_ACTIVITY_RECORDS_));
    (void)perf_activity_at_exit_(perf_activity_end_, activity, &perf_dso_);
    return PERF_OK;
}

/* Keeps the reason of a failure, for the report, and whose it is. */
PERF_COLD_FN_ void perf_activity_say_(perf_activity_ *activity, const char *by,
                                      const perf_activity_why_ *why)
{
    perf_out_ out;

    if (!why->text || !perf_lock_word_(&activity->lock, 1))
        return;
    activity->by = by;
    out = perf_out_open_(activity->said, sizeof activity->said);
    perf_put_(&out, why->text);
    if (why->code)
        perf_putf_(&out, ": %.0f", PERF_CAST_(double, why->code));
    if (why->error)
        perf_putf_(&out, " %s", why->error);
    perf_unlock_(&activity->lock);
}

/* The C++ runtime's function for readable names: the process's, else one that is opened for it.
 * NULL: there is none.                                                                           */
PERF_COLD_FN_ perf_activity_demangle_ *perf_activity_find_names_(void)
{
    static const char *const with_demangle[] = {"libstdc++.so.6", "libc++abi.so.1", PERF_NULL_};
    perf_activity_demangle_ *demangle = PERF_NULL_;
    void                    *names;

    perf_library_symbol_(PERF_NULL_, "__cxa", "_demangle", &demangle);
    if (demangle)
        return demangle;
    names = perf_library_open_(with_demangle);
    if (names)
        perf_library_symbol_(names, "__cxa", "_demangle", &demangle);
    return demangle;
}

/* At the exit: fetches what has ended, and records nothing more. */
PERF_COLD_FN_ void perf_activity_end_(void *state)
{
    perf_activity_ *activity = PERF_CAST_(perf_activity_ *, state);

    if (PERF_ACQ_(&activity->on) != PERF_ACTIVITY_RECORDS_ ||   /* a forked child                 */
        PERF_GET_(&activity->process) != perf_process_id_())
        return;
    activity->flush(activity->used, 1);         /* what has not ended has no times                */
    PERF_SET_(&activity->on, PERF_CAST_(uint32_t, PERF_ACTIVITY_ENDED_));
}

/* ---- launches ---- */

/* Reads both clocks at one moment; 0, or the profiler's error.  Where it is interrupted between
 * them it reads both again, up to three times; the closest pair counts.                          */
PERF_COLD_FN_ int perf_activity_clocks_(const perf_activity_ *activity, uint64_t *ticks,
                                        uint64_t *ns)
{
    const perf_registry_ *reg = perf_registry_get_();
    uint64_t              before, between, least = ~UINT64_C(0), now = 0;
    int                   code, i;

    *ticks = 0;
    for (i = 0; i < 3 && least > PERF_GET_(&activity->soon); i++) {
        before = perf_scope_ticks_(reg);
        code = activity->timestamp(&now);
        if (code)
            return code;
        between = perf_scope_ticks_(reg) - before;
        if (between >= least)
            continue;
        least = between;
        *ticks = before + between / 2;
        *ns = now;
    }
    return 0;
}

/* The calling thread launches something whose record will have that id.  returned 0: the call
 * begins; notes scope and time.  1: it is over; notes how long it took. */
PERF_COLD_FN_ void perf_activity_launch_(perf_activity_ *activity, uint32_t correlation,
                                         int returned)
{
    perf_activity_launched_ *launch = &activity->launch[correlation % PERF_ACTIVITY_LAUNCHES_];
    const uint64_t           key = PERF_CAST_(uint64_t, correlation) << 32;
    perf_registry_          *reg = perf_registry_get_();
    perf_recorder_          *rec;
    uint64_t                 now = 0, begin;

    if (!reg || PERF_GET_(&reg->process) != PERF_GET_(&activity->process))      /* a forked child */
        return;
    if (returned) {
        if (PERF_GET_(&launch->key) >> 32 == correlation)
            PERF_SET_(&launch->took, perf_scope_ticks_(reg) - PERF_GET_(&launch->begin));
        return;
    }
    rec = perf_recorder_get_();
    if (!rec || perf_activity_clocks_(activity, &begin, &now))
        return;
    PERF_REL_(&launch->key, UINT64_C(0));
    PERF_REL_(&launch->begin, begin);
    PERF_REL_(&launch->ns, now);
    PERF_REL_(&launch->took, UINT64_C(0));
    PERF_REL_(&launch->ran, UINT64_C(0));
    PERF_REL_(&launch->kernels, 0u);
    PERF_REL_(&launch->key, key | (rec->open ? perf_cell_id_(rec->open) : 0));
}

/* ---- records ---- */

/* Adds a record to all that is kept, and fills in the id of its name. */
PERF_COLD_FN_ void perf_activity_add_(perf_activity_ *activity, perf_activity_work_ *work)
{
    perf_activity_row_ *row;

    if (work->what != PERF_ACTIVITY_KERNEL_)
        work->name = perf_activity_copy_name_(work->what);
    else if (!work->name)
        work->name = perf_activity_name_of_(activity, work->text);
    if (!perf_activity_timed_(activity, work)) {
        activity->untimed++;
        return;
    }
    perf_activity_place_(activity, work);
    if (work->at < activity->birth)
        return;
    activity->unplaced += !work->placed;
    if (!perf_activity_record_(activity, work)) {
        activity->dropped++;
        return;
    }
    perf_activity_device_add_(activity, work);
    if (work->what == PERF_ACTIVITY_KERNEL_ && work->took)
        perf_activity_compare_(activity, work);
    row = perf_activity_row_of_(activity, work->name, work->scope);
    if (!row) {
        activity->rowless++;
        return;
    }
    row->calls++;
    row->bytes += work->bytes;
    row->ns += work->end - work->start;
    row->waited += work->waited;
    row->placed += PERF_CAST_(uint64_t, work->placed);
}

/* The id of a copy's or a memset's name; `what`: 0 .. 11, as above. */
PERF_COLD_FN_ uint32_t perf_activity_copy_name_(uint32_t what)
{
    static const char *const text[] = {
        "copy", "copy host to device", "copy device to host", "copy host to array",
        "copy array to host", "copy array to array", "copy array to device", "copy device to array",
        "copy device to device", "copy host to host", "copy peer to peer", "memset"};
    static const uint8_t into[] = {
        PERF_KIND_COPY_, PERF_KIND_IN_, PERF_KIND_OUT_, PERF_KIND_IN_, PERF_KIND_OUT_,
        PERF_KIND_COPY_, PERF_KIND_COPY_, PERF_KIND_COPY_, PERF_KIND_COPY_, PERF_KIND_COPY_,
        PERF_KIND_COPY_, PERF_KIND_DEVICE_};
    perf_site_ site = PERF_ZERO;

    site.name = text[what];
    site.line = PERF_CAST_(uint32_t, into[what]) << 24;
    return perf_site_id_(perf_registry_get_(), &site);
}

/* "saxpy<float>" of "void saxpy<float>(int, float*)". */
PERF_COLD_FN_ void perf_activity_bare_(char *plain)
{
    size_t length = PERF_LIBC_(strlen)(plain), at = length;
    int    depth = 0;

    while (at && plain[length - 1] == ')') {
        at--;
        depth += (plain[at] == ')') - (plain[at] == '(');
        if (!depth)
            break;
    }
    if (at && at < length)
        plain[at] = '\0';
    if (!PERF_LIBC_(strncmp)(plain, "void ", 5))
        PERF_LIBC_(memmove)(plain, plain + 5, PERF_LIBC_(strlen)(plain + 5) + 1);
}

/* A long name keeps both its ends, with six digits of its hash between them: templates may differ
 * anywhere. */
PERF_COLD_FN_ void perf_activity_put_name_(perf_out_ *out, const char *text, uint64_t hash)
{
    const size_t length = PERF_LIBC_(strlen)(text);

    if (length <= 200) {
        perf_put_(out, text);
        return;
    }
    perf_put_n_(out, text, 120);
    perf_putf_(out, "...%.0f...", PERF_CAST_(double, hash % 1000000));
    perf_put_(out, text + length - 60);
}

/* The id of a kernel's name; 0: no room.  The hash is FNV-1a. */
PERF_COLD_FN_ uint32_t perf_activity_name_of_(perf_activity_ *activity, const char *text)
{
    perf_registry_      *reg = perf_registry_get_();
    perf_activity_name_ *entry =
        &activity->name[(PERF_PTR_(uintptr_t, text) >> 3) % PERF_ACTIVITY_NAMES_];
    uint64_t             hash = UINT64_C(14695981039346656037);
    const char          *letter;
    char                 kept[PERF_NAME_MAX_ + 1], *plain = PERF_NULL_;
    perf_out_            out = perf_out_open_(kept, sizeof kept);
    perf_site_           site = PERF_ZERO;

    if (!text || !*text)
        text = "(kernel without a name)";
    for (letter = text; *letter; letter++)
        hash = (hash ^ PERF_CAST_(unsigned char, *letter)) * UINT64_C(1099511628211);
    if (entry->text == text && entry->hash == hash && entry->id)
        return entry->id;
    if (activity->demangle && !PERF_LIBC_(strncmp)(text, "_Z", 2) && letter - text < 4096)
        plain = activity->demangle(text, PERF_CAST_(char *, PERF_NULL_),
                                   PERF_CAST_(size_t *, PERF_NULL_), PERF_CAST_(int *, PERF_NULL_));
    if (plain)
        perf_activity_bare_(plain);
    perf_activity_put_name_(&out, plain ? plain : text, hash);
    if (plain)
        __builtin_free(plain);
    site.name = kept;
    site.line = PERF_CAST_(uint32_t, PERF_KIND_DEVICE_) << 24;
    entry->id = perf_site_id_(reg, &site);
    entry->text = text;
    entry->hash = hash;
    return entry->id;
}

/* 1: the times of a record are possible.  0: one is missing, it lasted over 30 years, or it began
 * more than 30 years before or after the newest launch.                                          */
PERF_COLD_FN_ int perf_activity_timed_(const perf_activity_ *activity,
                                       const perf_activity_work_ *work)
{
    const uint64_t most = UINT64_C(1000000000000000000), now = activity->newest.ns;

    return work->start && work->end >= work->start && work->end - work->start < most &&
           work->start - now + most < 2 * most;
}

/* Fills in where a record was launched, how long it waited, and `at`, when it began in ticks of the
 * host: newest.begin + (start - newest.ns) / tick. */
PERF_COLD_FN_ void perf_activity_place_(perf_activity_ *activity, perf_activity_work_ *work)
{
    perf_activity_launched_ *launch =
        &activity->launch[work->correlation % PERF_ACTIVITY_LAUNCHES_];
    perf_activity_launched_  read;
    const uint64_t           key = PERF_ACQ_(&launch->key);
    const double             tick = perf_scope_tick_ns_(perf_registry_get_());

    read.begin = PERF_ACQ_(&launch->begin);
    read.ns = PERF_ACQ_(&launch->ns);
    read.took = PERF_ACQ_(&launch->took);
    /* not if another launch has taken the entry meanwhile */
    work->placed = key && key >> 32 == work->correlation && PERF_ACQ_(&launch->key) == key;
    if (work->placed) {
        activity->newest.begin = read.begin;
        activity->newest.ns = read.ns;
        work->scope = PERF_CAST_(uint32_t, key);
        work->took = read.took;
        if (work->start > read.ns)
            work->waited = work->start - read.ns;
    } else {
        work->scope = PERF_ACTIVITY_UNKNOWN_;
    }
    work->at = activity->newest.begin + PERF_CAST_(uint64_t, PERF_CAST_(int64_t,
               PERF_CAST_(double, PERF_CAST_(int64_t, work->start - activity->newest.ns)) / tick));
}

/* Did the kernels of a launch run shorter than it took?  Asked again with each one that comes. */
PERF_COLD_FN_ void perf_activity_compare_(perf_activity_ *activity,
                                          const perf_activity_work_ *work)
{
    perf_activity_launched_ *launch =
        &activity->launch[work->correlation % PERF_ACTIVITY_LAUNCHES_];
    const double took = PERF_CAST_(double, work->took) *
                        perf_scope_tick_ns_(perf_registry_get_());
    uint64_t     ran = PERF_GET_(&launch->ran);
    uint32_t     kernels = PERF_GET_(&launch->kernels);

    if (PERF_ACQ_(&launch->key) >> 32 != work->correlation)     /* another launch is there now    */
        return;
    if (launch->resets != activity->resets)     /* those before are forgotten                     */
        ran = kernels = 0;
    if (PERF_CAST_(double, ran) < took)
        activity->short_kernels -= kernels;
    ran += work->end - work->start;
    kernels++;
    if (PERF_CAST_(double, ran) < took)
        activity->short_kernels += kernels;
    activity->kernels++;
    PERF_SET_(&launch->ran, ran);
    PERF_SET_(&launch->kernels, kernels);
    launch->resets = activity->resets;
}

/* Adds a record to the report's row of its name and to the trace.  A line of the trace shows one
 * thing at a time: what overlaps the record before it is shown from the end of that one on.
 * 0: there is no room.                                                                           */
PERF_COLD_FN_ int perf_activity_record_(perf_activity_ *activity, const perf_activity_work_ *work)
{
    const double          tick = perf_scope_tick_ns_(perf_registry_get_());
    perf_activity_track_ *track = perf_activity_track_of_(activity, work);
    perf_cell_           *cell = PERF_NULL_;
    const double          length = PERF_CAST_(double, work->end - work->start) / tick + 0.5;
    const uint64_t        ticks = PERF_CAST_(uint64_t, length);
    uint64_t              from = work->at, until = work->at + ticks;

    if (track)
        cell = perf_track_cell_(track->recorder, work->name);
    if (!cell)
        return 0;
    if (from < track->until)
        from = track->until;
    if (until < from)
        until = from;
    track->until = until;
    perf_track_add_(track->recorder, cell, ticks, from, until - from, 1);
    return 1;
}

/* The line of a stream; those from the 64th on share the last one.  NULL: no memory. */
PERF_COLD_FN_ perf_activity_track_ *perf_activity_track_of_(perf_activity_ *activity,
                                                            const perf_activity_work_ *work)
{
    perf_activity_track_ *track = activity->track;
    char                  title[32];
    perf_out_             out = perf_out_open_(title, sizeof title);
    uint32_t              i;

    for (i = 0; i < activity->tracks; i++, track++)
        if (track->device == work->device && track->stream == work->stream)
            return track;
    if (activity->tracks == PERF_ACTIVITY_TRACKS_)
        return track - 1;                       /* the last one                                   */
    if (activity->tracks == PERF_ACTIVITY_TRACKS_ - 1)
        perf_put_(&out, "other GPU streams");
    else if (work->stream < PERF_CAST_(uint32_t, PERF_ACTIVITY_NO_STREAM_))
        perf_putf_(&out, "GPU %.0f kernels %.0f", PERF_CAST_(double, work->device),
                   PERF_CAST_(double, work->stream));
    else if (work->what == PERF_ACTIVITY_HOST_)
        perf_put_(&out, perf_activity_text_(work->name));
    else
        perf_putf_(&out, "GPU %.0f %s", PERF_CAST_(double, work->device),
                   perf_activity_text_(work->name));
    track->recorder = perf_track_make_(perf_registry_get_(), title);
    if (!track->recorder)
        return PERF_NULL_;
    track->device = work->device;
    track->stream = work->stream;
    activity->tracks++;
    return track;
}

/* Adds a record to its device; those beyond the 16th device are in the rows only. */
PERF_COLD_FN_ void perf_activity_device_add_(perf_activity_ *activity,
                                             const perf_activity_work_ *work)
{
    perf_activity_device_ *device = activity->device;

    if (work->what == PERF_ACTIVITY_HOST_)      /* no device has worked                           */
        return;
    while (device->known && device->number != work->device &&
           device < activity->device + PERF_ACTIVITY_DEVICES_ - 1)
        device++;
    if (device->known && device->number != work->device) {
        activity->lineless++;
        return;
    }
    if (!device->known) {
        device->known = 1;
        device->number = work->device;
        activity->devices++;
    }
    device->sum += work->end - work->start;
    if (work->what <= PERF_ACTIVITY_PEER_)
        device->copies += work->end - work->start;
    perf_activity_span_add_(device, work);
}

/* Puts one more time at work among the spans; those that it touches become one with it. */
PERF_COLD_FN_ void perf_activity_span_add_(perf_activity_device_ *device,
                                           const perf_activity_work_ *work)
{
    perf_activity_span_ *all = device->span, span = PERF_ZERO;
    uint32_t             first = device->count, end;    /* it touches all[first .. end - 1]       */

    if (work->end == work->start)
        return;
    span.from = work->start;
    span.to = work->end;
    span.name = work->name;
    span.waited = work->placed ? work->waited : ~UINT64_C(0);
    while (first && all[first - 1].to >= span.from)
        first--;
    for (end = first; end < device->count && all[end].from <= span.to; end++)
        perf_activity_cover_(&span, &all[end]);
    PERF_LIBC_(memmove)(all + first + 1, all + end, (device->count - end) * sizeof *all);
    all[first] = span;
    device->count = device->count + 1 - (end - first);
    if (device->count == PERF_ACTIVITY_SPANS_)
        perf_activity_thin_(device);
}

/* Makes an older span a part of one that touches it.  Where that covers it, its gaps are filled.
 * They are taken for evenly spread: nobody knows any more where in the older span they were. */
PERF_COLD_FN_ void perf_activity_cover_(perf_activity_span_ *span,
                                        const perf_activity_span_ *older)
{
    const uint64_t from = span->from > older->from ? span->from : older->from;
    const uint64_t to = span->to < older->to ? span->to : older->to;
    const double   left = 1 - PERF_CAST_(double, to - from) /
                              PERF_CAST_(double, older->to - older->from);
    const uint64_t idle = PERF_CAST_(uint64_t, left * PERF_CAST_(double, older->idle));
    uint64_t       longest;

    if (older->from <= span->from) {
        span->from = older->from;
        span->name = older->name;
        span->waited = older->waited;
    }
    if (older->to > span->to)
        span->to = older->to;
    if (!idle)
        return;
    span->idle += idle;
    span->gaps += PERF_CAST_(uint64_t, left * PERF_CAST_(double, older->gaps - 1)) + 1;
    span->starved += PERF_CAST_(uint64_t, left * PERF_CAST_(double, older->starved));
    longest = older->longest < idle ? older->longest : idle;
    if (longest > span->longest) {
        span->longest = longest;
        span->longest_name = older->longest_name;
    }
}

/* Joins spans of the older half, down to 65 at most.  None of those has more than a 32nd of the
 * idle time: a late record that covers a part of one can be wrong by so much.                    */
PERF_COLD_FN_ void perf_activity_thin_(perf_activity_device_ *device)
{
    const uint32_t       half = PERF_ACTIVITY_SPANS_ / 2;
    perf_activity_span_ *span = device->span;
    uint64_t             idle = span->idle;
    uint32_t             i, last = 0;

    for (i = 1; i < half; i++)
        idle += span[i].from - span[i - 1].to + span[i].idle;
    for (i = 1; i < half; i++)
        if (span[last].idle + (span[i].from - span[last].to) + span[i].idle <= idle / 32)
            perf_activity_join_(&span[last], &span[i]);
        else
            span[++last] = span[i];
    PERF_LIBC_(memmove)(span + last + 1, span + half, (device->count - half) * sizeof *span);
    device->count -= half - (last + 1);
}

/* Adds the next span, and the gap before it. */
PERF_COLD_FN_ void perf_activity_join_(perf_activity_span_ *span, const perf_activity_span_ *next)
{
    const uint64_t gap = next->from - span->to;

    span->to = next->to;
    span->gaps += next->gaps + 1;
    span->idle += next->idle + gap;
    span->starved += next->starved;
    if (gap > next->waited)
        span->starved += gap - next->waited;
    if (gap > span->longest) {
        span->longest = gap;
        span->longest_name = next->name;
    }
    if (next->longest > span->longest) {
        span->longest = next->longest;
        span->longest_name = next->longest_name;
    }
}

/* The row of a name and a scope; NULL: all are taken. */
PERF_COLD_FN_ perf_activity_row_ *perf_activity_row_of_(perf_activity_ *activity, uint32_t name,
                                                        uint32_t scope)
{
    uint32_t            at = (name * UINT32_C(2654435761) ^ scope * UINT32_C(40503)) >> 7;
    perf_activity_row_ *row;

    for (;; at++) {
        row = &activity->row[at % PERF_ACTIVITY_ROWS_];
        if (row->name == name && row->scope == scope)
            return row;
        if (!row->name)
            break;
    }
    if (activity->rows >= PERF_ACTIVITY_ROWS_ - PERF_ACTIVITY_ROWS_ / 8)
        return PERF_NULL_;
    activity->rows++;
    row->name = name;
    row->scope = scope;
    return row;
}

/* ---- what a report asks for ---- */

/* Before a report or a trace: what the device has finished.  No lock is held meanwhile. */
PERF_COLD_FN_ void perf_activity_collect_(perf_registry_ *reg)
{
    perf_activity_ *activity = perf_activity_if_any_();

    (void)reg;
    if (activity && PERF_ACQ_(&activity->on) == PERF_ACTIVITY_RECORDS_)
        activity->flush(activity->used, 0);
}

/* What began before is left out, also where its record comes later.  A record without times, and
 * one that is lost, tell of no moment: what is fetched here is taken for older.                  */
PERF_COLD_FN_ void perf_activity_reset_(void)
{
    perf_activity_ *activity = perf_activity_if_any_();

    if (!activity || !perf_lock_word_(&activity->lock, 1))
        return;
    activity->birth = perf_scope_ticks_(perf_registry_get_());
    PERF_LIBC_(memset)(activity->row, 0, sizeof activity->row);
    PERF_LIBC_(memset)(activity->device, 0, sizeof activity->device);
    activity->rows = activity->devices = 0;
    activity->unplaced = activity->rowless = activity->lineless = 0;
    activity->kernels = activity->short_kernels = 0;
    activity->resets++;
    perf_unlock_(&activity->lock);
    perf_activity_collect_(PERF_NULL_);
    if (!perf_lock_word_(&activity->lock, 1))
        return;
    activity->untimed = activity->dropped = 0;
    perf_unlock_(&activity->lock);
}

/* The table of kernels and copies, a line a device, what is missing and why. */
PERF_COLD_FN_ void perf_activity_report_(perf_out_ *out, int json)
{
    perf_activity_ *activity = perf_activity_if_any_();
    double          sum;
    uint32_t        i;
    const uint64_t *n[5];
    static const char *const what[] = {
        "records of the profiler had no times, and were left out",
        "records were lost: no memory for them, or the profiler lost them",
        "kernels and copies: it is not known where they were launched",
        "kernels and copies are in no row of the table: more than 1,792 pairs of name and scope",
        "kernels and copies of devices behind the 16th are in no line of a device"};

    if (json || !activity || !perf_lock_word_(&activity->lock, 1))
        return;
    sum = perf_activity_sum_(activity);
    if (sum > 0) {
        perf_activity_put_rows_(out, activity, sum);
        for (i = 0; i < activity->devices; i++)
            perf_activity_put_device_(out, &activity->device[i], activity->by);
        perf_activity_put_share_(out, activity, sum);
    }
    n[0] = &activity->untimed;
    n[1] = &activity->dropped;
    n[2] = &activity->unplaced;
    n[3] = &activity->rowless;
    n[4] = &activity->lineless;
    for (i = 0; i < 5; i++)
        if (*n[i])
            perf_putf_(out, "note: %.0f %s\n", PERF_CAST_(double, *n[i]), what[i]);
    if (*activity->said)
        perf_putf_(out, "note: no kernels from %s: %s\n", activity->by, activity->said);
    perf_unlock_(&activity->lock);
}

/* The time of all rows, ns. */
PERF_COLD_FN_ double perf_activity_sum_(const perf_activity_ *activity)
{
    double   sum = 0;
    uint32_t i;

    for (i = 0; i < PERF_ACTIVITY_ROWS_; i++)
        sum += PERF_CAST_(double, activity->row[i].ns);
    return sum;
}

#define PERF_ACTIVITY_SHOWN_ 20u        /* rows of the table                                      */

/* The rows with most time, and how many there are beside them. */
PERF_COLD_FN_ void perf_activity_put_rows_(perf_out_ *out, perf_activity_ *activity, double sum)
{
    static const perf_column_ column[] = {
        {"kernel or copy", 40, 0, 0}, {"launched in", 20, 0, 0}, {"calls", 9, 0, 0},
        {"time", 10, 0, 0}, {"share %", 8, 0, 0}, {"mean", 10, 0, 0}, {"wait", 10, 'b', 0},
        {"bytes", 10, 'a', 0}};
    perf_table_      table = perf_table_open_(out, column, 8);
    perf_activity_row_ *row;
    uint32_t         i;

    for (i = 0; i < PERF_ACTIVITY_ROWS_; i++)
        activity->row[i].shown = 0;
    perf_table_head_(&table);
    for (i = 0; i < PERF_ACTIVITY_SHOWN_; i++) {
        row = perf_activity_most_(activity);
        if (!row)
            return;
        row->shown = 1;
        perf_activity_put_row_(&table, row, sum);
    }
    if (activity->rows > PERF_ACTIVITY_SHOWN_)
        perf_putf_(out, "(%.0f shorter rows are left out)\n",
                   PERF_CAST_(double, activity->rows - PERF_ACTIVITY_SHOWN_));
}

/* The row with most time that was not shown yet, NULL: there is none. */
PERF_COLD_FN_ perf_activity_row_ *perf_activity_most_(perf_activity_ *activity)
{
    perf_activity_row_ *most = PERF_NULL_, *row = activity->row;

    for (; row < activity->row + PERF_ACTIVITY_ROWS_; row++)
        if (row->name && !row->shown && (!most || row->ns > most->ns))
            most = row;
    return most;
}

PERF_COLD_FN_ void perf_activity_put_row_(perf_table_ *table, const perf_activity_row_ *row,
                                          double sum)
{
    const double calls = PERF_CAST_(double, row->calls), ns = PERF_CAST_(double, row->ns);
    const double placed = PERF_CAST_(double, row->placed);

    perf_table_text_(table, perf_activity_text_(row->name));
    perf_table_text_(table, perf_activity_text_(row->scope));
    perf_table_fixed_(table, calls, 0);
    perf_table_ns_(table, ns);
    perf_table_fixed_(table, sum > 0 ? 100 * ns / sum : 0, 1);
    perf_table_ns_(table, ns / calls);
    if (row->placed)
        perf_table_ns_(table, PERF_CAST_(double, row->waited) / placed);
    else
        perf_table_text_(table, "");
    if (row->bytes)
        perf_table_bytes_(table, PERF_CAST_(double, row->bytes));
    else
        perf_table_text_(table, "");
    perf_table_row_end_(table);
}

/* The name of an id, or why there is none. */
PERF_COLD_FN_ const char *perf_activity_text_(uint32_t id)
{
    if (!id)
        return "(no scope)";
    if (id == PERF_ACTIVITY_UNKNOWN_)
        return "(not known)";
    return PERF_ACQ_(&perf_registry_get_()->names)[id]->site.name;
}

PERF_COLD_FN_ void perf_activity_put_device_(perf_out_ *out, const perf_activity_device_ *device,
                                             const char *by)
{
    const perf_activity_span_ whole = perf_activity_whole_of_(device);
    const double              span = PERF_CAST_(double, whole.to - whole.from);
    const double              busy = span - PERF_CAST_(double, whole.idle);
    const double              sum = PERF_CAST_(double, device->sum);

    if (!(span > 0) || !(sum > 0))
        return;
    perf_putf_(out, "GPU %.0f by %s: busy %.1f %% of ", PERF_CAST_(double, device->number), by,
               100 * busy / span);
    perf_put_ns_(out, span);
    perf_putf_(out, ", copies %.1f %% of that, %.1f %% overlapped; idle with nothing launched "
               "%.1f %%", 100 * PERF_CAST_(double, device->copies) / sum, 100 * (1 - busy / sum),
               100 * PERF_CAST_(double, whole.starved) / span);
    if (whole.gaps) {
        perf_putf_(out, "; %.0f gaps, the longest ", PERF_CAST_(double, whole.gaps));
        perf_put_ns_(out, PERF_CAST_(double, whole.longest));
        perf_put_(out, " before ");
        (void)perf_put_cut_(out, perf_activity_text_(whole.longest_name), 40);
    }
    perf_put_char_(out, '\n');
}

/* How much of the time is in the three names with most, and how many there are.  A name may have
 * many rows, one for each scope. */
PERF_COLD_FN_ void perf_activity_put_share_(perf_out_ *out, perf_activity_ *activity, double sum)
{
    perf_activity_row_ *first, *row, *end = activity->row + PERF_ACTIVITY_ROWS_;
    double              most[3] = {0, 0, 0}, ns;
    uint32_t            names = 0;
    int                 i, k;

    for (row = activity->row; row < end; row++)
        row->shown = 0;
    for (first = activity->row; first < end; first++) {
        if (!first->name || first->shown)
            continue;
        ns = 0;
        for (row = first; row < end; row++)
            if (row->name == first->name) {
                ns += PERF_CAST_(double, row->ns);
                row->shown = 1;
            }
        names++;
        i = 0;                                  /* its place among the three                      */
        while (i < 3 && most[i] >= ns)
            i++;
        for (k = 2; k > i; k--)
            most[k] = most[k - 1];
        if (i < 3)
            most[i] = ns;
    }
    perf_putf_(out, "kernels and copies: %.1f %% of their time in %.0f of %.0f names",
               100 * (most[0] + most[1] + most[2]) / sum,
               PERF_CAST_(double, names < 3 ? names : 3), PERF_CAST_(double, names));
    if (activity->kernels)
        perf_putf_(out, "; %.1f %% of kernels ran shorter than their launch took",
                   100 * PERF_CAST_(double, activity->short_kernels) /
                   PERF_CAST_(double, activity->kernels));
    perf_put_char_(out, '\n');
}

/* The evidence of the busiest device.  A profiler sees all work, so this outranks what scopes tell:
 * `measured` is 2. */
PERF_COLD_FN_ void perf_activity_tells_(perf_evidence_ *evidence, double total_ns)
{
    perf_activity_     *activity = perf_activity_if_any_();
    perf_activity_span_ whole;
    double              busy, most = 0;
    uint32_t            i;

    if (!activity || !(total_ns > 0) || !perf_lock_word_(&activity->lock, 1))
        return;
    for (i = 0; i < activity->devices; i++) {
        whole = perf_activity_whole_of_(&activity->device[i]);
        busy = PERF_CAST_(double, whole.to - whole.from - whole.idle);
        if (busy <= most)
            continue;
        most = busy;
        evidence->measured = 2;
        evidence->busy = perf_least_(busy / total_ns, 1);
        evidence->starved = perf_least_(PERF_CAST_(double, whole.starved) / total_ns, 1);
        evidence->copies = PERF_CAST_(double, activity->device[i].copies) /
                           PERF_CAST_(double, activity->device[i].sum);
    }
    perf_unlock_(&activity->lock);
}

/* All spans of a device as one; zeros: there is none. */
PERF_COLD_FN_ perf_activity_span_ perf_activity_whole_of_(const perf_activity_device_ *device)
{
    perf_activity_span_ whole = PERF_ZERO;
    uint32_t            i;

    if (device->count)
        whole = device->span[0];
    for (i = 1; i < device->count; i++)
        perf_activity_join_(&whole, &device->span[i]);
    return whole;
}

#endif

PERF_END_DECLS

#endif /* PERF_ACTIVITY_H */
