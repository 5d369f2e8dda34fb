/* What tests know of the inside of the headers, under names of their own.  When the inside changes,
 * this file changes with it and the tests stay.  Include it after the headers; each part is there
 * if its header is.  These files use private names, for the inside is what they test:
 *
 *   stats/math.c, stats/compare.c   functions that have no public name: verdicts are made of them
 *   hist/core.c, hist/truth.c       the buckets against plain arrays
 *   kernel/machine.h                stands in for what only a device has
 *   gpu/cupti_offsets.c   structs of ours against those of NVIDIA's headers
 *   gpu/rocprofiler_offsets.c   and of AMD's
 *   gpu/scopes*.c, gpu/refusals.c   rings, slots and lines of a device as they really lie there
 *   nvtx/live.c                     a sink's own functions, called as the hot path calls them
 *   results/refusals.c              each inner call with what it cannot use
 *   results/options.c               the list of cases, and plans without a run
 *   time/scopes.c, time/remarks.c, time/threads.c   recorders, rings and losses while they change */
#include <stdint.h>
#include <string.h>

#undef INSIDE_UNUSED
#define INSIDE_UNUSED __attribute__((__unused__))

/* ---- mathematics: the same numbers on every machine, which libm does not promise ---- */

#if defined(PERF_MATH_H) && !defined(INSIDE_MATH_H)
#define INSIDE_MATH_H
INSIDE_UNUSED static double math_exp(double x)
{
    return perf_exp_(x);
}

INSIDE_UNUSED static double math_log(double x)
{
    return perf_log_(x);
}

INSIDE_UNUSED static double math_sqrt(double x)
{
    return perf_sqrt_(x);
}

/* A normal deviate from a share in (0, 1). */
INSIDE_UNUSED static double math_normal(double share)
{
    return perf_normal_quantile_(share);
}
#endif

#if defined(PERF_STATS_H) && !defined(INSIDE_STATS_H)
#define INSIDE_STATS_H
INSIDE_UNUSED static void stats_sort(double *x, size_t n)
{
    perf_sort_values_(x, n);
}

/* Of an ascending array: the quantile and its exact binomial interval. */
INSIDE_UNUSED static perf_interval stats_interval(const double *sorted, size_t n, double p,
                                                  double confidence)
{
    return perf_quantile_interval_(sorted, n, p, confidence);
}

/* Of values of one series, which may depend on one another. */
INSIDE_UNUSED static perf_interval stats_interval_series(const double *x, size_t n, double p,
                                                         double confidence)
{
    return perf_quantile_interval_series_(x, n, p, confidence);
}

INSIDE_UNUSED static size_t stats_share_low(size_t n, double a, double b, double tail)
{
    return perf_share_low_(n, a, b, tail);
}

/* Linear between the two values beside it; `sorted` ascends. */
INSIDE_UNUSED static double stats_quantile(const double *sorted, size_t n, double p)
{
    return perf_quantile_(sorted, n, p);
}

/* The mean of values of either sign, and their standard deviation. */
INSIDE_UNUSED static double stats_moments(const double *x, size_t n, double *std)
{
    perf_moments_ m = perf_moments_of_(x, n);

    *std = m.std;
    return m.mean;
}

/* Of differences of pairs, after Wilcoxon: the limit is Walsh average k; k 0: none. */
INSIDE_UNUSED static uint64_t stats_signed_rank_k(size_t n, double tail)
{
    return perf_signed_rank_k_(n, tail);
}

INSIDE_UNUSED static perf_interval stats_signed_rank(double *d, size_t n, double tail)
{
    return perf_signed_rank_(d, n, tail);
}

/* The ratio from which on a rule rejects. */
INSIDE_UNUSED static double rule_threshold(const perf_rule *rule)
{
    return perf_rule_threshold_(rule);
}
#endif

/* ---- histograms: what the public calls sum up ---- */

#if defined(PERF_HIST_H) && !defined(INSIDE_HIST_H)
#define INSIDE_HIST_H
INSIDE_UNUSED static const void *hist_cells(const perf_hist *h)
{
    return perf_hist_peek_cells_(h);
}

INSIDE_UNUSED static size_t hist_cell_bytes(const perf_hist *h)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);

    return s.counters * s.bytes;
}

/* Values above the range. */
INSIDE_UNUSED static uint64_t hist_over(const perf_hist *h)
{
    return perf_hist_peek_(h)->over;
}

INSIDE_UNUSED static uint64_t hist_under(const perf_hist *h)
{
    return perf_hist_peek_(h)->under;
}

/* Options that make a histogram of the form of `h`, of 8 bytes a counter. */
INSIDE_UNUSED static perf_hist_opts hist_form(const perf_hist *h, perf_hist_opts o)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);

    o.bits = s.bits ? (int)s.bits : -1;
    o.counter_bytes = 8;
    if (!s.compact) {
        o.highest = s.highest;
        o.lowest = 0;
        o.unit = 0.0;
    }
    return o;
}

/* The number of the bucket of a value in a histogram of all values. */
INSIDE_UNUSED static uint64_t hist_index(unsigned bits, uint64_t value)
{
    perf_hist_shape_ s = PERF_ZERO;

    s.bits = bits;
    s.compact = 1;
    s.highest = UINT64_MAX >> 1;
    return perf_hist_index_(&s, value);
}
#endif

#if defined(PERF_HLOG_H) && !defined(INSIDE_HLOG_H)
#define INSIDE_HLOG_H
typedef perf_hlog_source_ hlog_source;  /* the content of a line, inflated piece by piece         */

/* 1: old content, 2: new, negative: the line has none. */
INSIDE_UNUSED static int hlog_open(hlog_source *s, const char *text, size_t size)
{
    return perf_hlog_open_(s, text, 0, size);
}

/* The next piece, in window[read, written); 0: there is none. */
INSIDE_UNUSED static int hlog_more(hlog_source *s)
{
    return perf_inflate_more_(s);
}

INSIDE_UNUSED static int hlog_ended(const hlog_source *s)
{
    return s->mode == PERF_INFLATE_END_;
}

INSIDE_UNUSED static uint32_t hlog_checksum(const unsigned char *p, size_t n)
{
    return perf_adler32_(1, p, n);
}

/* Bytes that the counts of `h` take before they are packed, and the first of them. */
INSIDE_UNUSED static size_t hlog_counts(const perf_hist *h, unsigned bits, unsigned char *first)
{
    static perf_zip_ z;

    memset(&z, 0, sizeof z);
    perf_hlog_counts_(&z, h, bits);
    *first = z.content[0];
    return z.n;
}

INSIDE_UNUSED static unsigned base64_value(char c)
{
    return perf_base64_value_(c);
}
#endif

/* ---- text ---- */

#if defined(PERF_TEXT_H) && !defined(INSIDE_TEXT_H)
#define INSIDE_TEXT_H
/* The columns of the character at `s` on a screen, and its bytes. */
INSIDE_UNUSED static size_t text_columns(const char *s, size_t *bytes)
{
    perf_char_ c = perf_char_of_(s);

    *bytes = (size_t)c.bytes;
    return perf_char_columns_(c);
}

#endif

#if defined(PERF_SAVED_H) && !defined(INSIDE_SAVED_H)
#define INSIDE_SAVED_H
#include <stdlib.h>
/* A number as our files have it. */
INSIDE_UNUSED static void text_of_real(char *to, size_t cap, double x)
{
    perf_out_ o = perf_out_open_(to, cap);

    perf_put_real_(&o, x);
}

/* Where a strict reader of JSON stops: at `size` when the text is one value. */
INSIDE_UNUSED static size_t json_end(const char *text, size_t size)
{
    perf_reader_ r;
    size_t       at;

    memset(&r, 0, sizeof r);
    r.text = text;
    r.size = size;
    r.decoded = (char *)malloc(size + 1);
    if (!r.decoded)
        return 0;
    perf_read_skip_(&r, 0);
    (void)perf_read_peek_(&r);
    at = r.status == PERF_OK ? r.at : 0;
    free(r.decoded);
    return at;
}
#endif

/* ---- the core of the process ---- */

#if defined(PERF_SCOPE_H) && !defined(INSIDE_SCOPE_H)
#define INSIDE_SCOPE_H
typedef struct perf_recorder_ core_recorder;    /* of a thread                                    */

/* 1: nothing is kept, and the switch of this image says why: the program has no core. */
INSIDE_UNUSED static int core_is_nowhere(void)
{
    return perf_anchor_v1_.registry == NULL && perf_anchor_v1_.off == PERF_OFF_NO_CORE_;
}
#endif

#if defined(PERF_H_RECORDS) && !defined(INSIDE_H_RECORDS)
#define INSIDE_H_RECORDS
typedef perf_registry_ core_registry;

#if defined(PERF_ADD_ASM_)
#define CORE_ADDS_AT_ONCE 1             /* a counter is added to by one instruction              */
#endif

/* Made now, if nothing has been recorded. */
INSIDE_UNUSED static core_registry *core_get(void)
{
    return perf_registry_get_();
}

INSIDE_UNUSED static core_registry *core_read(void)
{
    return perf_registry_read_();
}

/* As another thread that is inside: 0, nobody gets in until core_unlock. */
INSIDE_UNUSED static int core_lock(core_registry *r)
{
    return perf_lock_(r);
}

INSIDE_UNUSED static void core_unlock(core_registry *r)
{
    perf_unlock_(&r->lock);
}

/* Pages as the core takes them; wiped: zero in a forked child, where the system can. */
INSIDE_UNUSED static void *core_pages(size_t bytes, int wiped)
{
    return perf_pages_(bytes, wiped);
}

/* As if so many ns were a tick, and that for good. */
INSIDE_UNUSED static void core_set_tick(double ns)
{
    uint64_t bits;

    memcpy(&bits, &ns, sizeof bits);
    PERF_SET_(&perf_anchor_v1_.clock.tick_ns, bits);
    PERF_SET_(&perf_anchor_v1_.clock.length, UINT64_MAX / 4);
}

typedef perf_mark_ core_mark;            /* one phase of memory                                   */

/* The recorder of this thread; NULL: none yet. */
INSIDE_UNUSED static core_recorder *core_here(void)
{
    return perf_self_v1_;
}

/* The same, made now if there is none. */
INSIDE_UNUSED static core_recorder *core_here_made(void)
{
    return perf_recorder_get_();
}

INSIDE_UNUSED static uint64_t core_lost_by(const core_recorder *t)
{
    return t->losses[PERF_LOSS_LOST_];
}

/* Calls in all cells of a thread. */
INSIDE_UNUSED static uint64_t core_calls_of(const core_recorder *t)
{
    uint64_t    sum = 0;
    uint32_t    id;
    perf_cell_ *c;

    for (id = 1; id < t->room; id++)
        if ((c = t->cell[id]) != NULL)
            do
                sum += c->count;
            while ((c = c->kin) != t->cell[id]);
    return sum;
}

/* Takes 64 bytes of a thread's memory, of that of all; NULL: there are no more. */
INSIDE_UNUSED static void *core_take_own(core_recorder *t)
{
    return perf_pool_(t->home, &t->pool, &t->pool_end, 64, 64, 1);
}

INSIDE_UNUSED static void *core_take_shared(void)
{
    core_registry *r = core_get();

    return perf_pool_(r, &r->pool, &r->pool_end, 64, 64, 0);
}

#define CORE_SYSTEM_CLOCK PERF_SYSTEM_CLOCK_NAME_       /* its name                               */
#define CORE_HAS_COUNTER  (PERF_CLOCK != PERF_CLOCK_MONOTONIC)    /* the processor                      */

typedef perf_calibration_ core_clock;

INSIDE_UNUSED static core_clock *core_clock_of_all(void)
{
    return &perf_anchor_v1_.clock;
}

/* As if its calibration had come so far: 0 not begun, 1 begun by another thread, 2 done. */
INSIDE_UNUSED static void core_clock_set(uint32_t state)
{
    PERF_SET_(&perf_anchor_v1_.clock.state, state);
}

/* The calibration; NULL: not ready. */
INSIDE_UNUSED static core_clock *core_calibrate(void)
{
    return perf_calibrate_();
}

/* Marks look again at what is wanted of them. */
INSIDE_UNUSED static void core_asks(core_registry *r)
{
    perf_ask_(r, PERF_ASK_TRACE_);
}

typedef perf_out_ core_out;             /* what a text is written to                             */

INSIDE_UNUSED static size_t core_out_length(const core_out *o)
{
    return o->len;
}

INSIDE_UNUSED static void core_out_put(core_out *o, char c)
{
    perf_put_char_(o, c);
}

/* As after a fork: what the hot path of this thread sees is gone. */
INSIDE_UNUSED static void core_forget_seen(core_recorder *t)
{
    PERF_SET_(&t->quick, NULL);
}

typedef perf_kept_loop_     core_loop;        /* a loop, as r->results lists it                   */
typedef perf_source_   core_source;     /* durations from elsewhere                               */

/* As if the last loop had counted that; 0: there is no loop, or it has no place. */
INSIDE_UNUSED static int core_loop_counted(const char *name, double value)
{
    core_loop *loop = (core_loop *)core_read()->results;

    if (!loop || strlen(name) >= sizeof loop->counter[0])
        return 0;
    memcpy(loop->counter[0], name, strlen(name) + 1);
    loop->value[0] = value;
    return 1;
}

/* A scope around the rest of the block, of a device's kind. */
#define SCOPE_OF_DEVICE(name) PERF_SCOPE_OF_(name, PERF_KIND_DEVICE_, __COUNTER__)
#define SCOPE_OF_COPY(name)   PERF_SCOPE_OF_(name, PERF_KIND_COPY_, __COUNTER__)
#define SCOPE_OF_SYNC(name)   PERF_SCOPE_OF_(name, PERF_KIND_SYNC_, __COUNTER__)

#define CORE_HAS_THREAD_IDS (PERF_SYS_GETTID_ != 0)     /* of the system                          */
#define CORE_ASKS_SYSTEM    PERF_LP64_UNIX_             /* what a thread does                     */

INSIDE_UNUSED static uint32_t core_thread_id(void)
{
    return perf_thread_id_();
}

INSIDE_UNUSED static void core_source_add(core_source *source)
{
    perf_source_add_(core_read(), source);
}

/* Where a scope's name stands in the table of names; 0: nowhere. */
INSIDE_UNUSED static uint32_t core_scope_id(const char *name)
{
    core_registry *r = core_get();
    uint32_t       id = r->count - 1;

    while (id && (r->names[id]->kind != PERF_KIND_SCOPE_ ||
                  strcmp(r->names[id]->site.name, name) != 0))
        id--;
    return id;
}
#endif

#if defined(PERF_ROWS_H) && !defined(INSIDE_ROWS_H)
#define INSIDE_ROWS_H
/* Calls of name number `id`, and the sum of what its buckets hold. */
INSIDE_UNUSED static uint64_t core_name_calls(uint32_t id, uint64_t *buckets)
{
    static perf_sum_ sum;
    perf_row_        found;
    uint32_t         i;

    *buckets = 0;
    perf_row_fill_(&found, core_read(), id, &sum, 1);
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        *buckets += sum.bucket[i];
    return found.count;
}

/* As if a scope of this thread, called before for so long, had been called `times` more often; at
 * most 2^30.  The thread's next mark comes as late as its counters allow.                         */
INSIDE_UNUSED static void core_calls_more(uint32_t id, uint64_t ticks, uint32_t times)
{
    perf_recorder_ *t = perf_self_v1_;
    perf_cell_     *c = t->cell[id];
    uint32_t        index = (uint32_t)perf_bucket_index_(ticks);

    while (!perf_grow_begin_(t)) {
    }
    if (!perf_buckets_have_(c->buckets, index))
        (void)perf_buckets_widen_(t, c, index);
    perf_grow_end_(t);
    PERF_ADD_(PERF_PTR_(uint32_t *, c->bucket)[index], times);
    PERF_ADD_(c->sum, times * ticks);
    PERF_ADD_(c->count, times);
    t->late_next |= UINT32_C(1) << 31;
}

/* The same by name, of whatever kind. */
INSIDE_UNUSED static uint64_t core_calls(const char *name, uint64_t *buckets)
{
    core_registry *r = core_read();
    uint64_t       calls = 0;
    uint32_t       id;

    *buckets = 0;
    for (id = 1; id < r->count; id++)
        if (!strcmp(r->names[id]->site.name, name))
            calls = core_name_calls(id, buckets);
    return calls;
}

/* Events that the rings have overwritten, and scopes that found no room. */
INSIDE_UNUSED static uint64_t core_overwritten(void)
{
    return perf_losses_sum_(core_read()).n[PERF_LOSS_OVERWRITTEN_];
}

INSIDE_UNUSED static uint64_t core_uncounted(void)
{
    return perf_losses_sum_(core_read()).n[PERF_LOSS_LOST_];
}
#endif

#if defined(PERF_EVENTS_H) && !defined(INSIDE_EVENTS_H)
#define INSIDE_EVENTS_H
INSIDE_UNUSED static uint64_t core_events_seen;

INSIDE_UNUSED static void core_events_of(void *with, const perf_events_ *e)
{
    perf_zone_ z;
    uint64_t   i = 0;

    while (i < e->count)
        core_events_seen += perf_zone_at_(e, &i, (core_registry *)with, &z) != 0;
}

/* An event of a ring, in ticks; `value`: a counter's, as bits. */
typedef struct core_event {
    const char *name;
    uint64_t    start, length, value;
} core_event;

typedef struct core_events_from {
    core_event *to;
    size_t      most, count;
    uint64_t    from;
} core_events_from;

INSIDE_UNUSED static void core_events_take(void *with, const perf_events_ *e)
{
    core_events_from *l = (core_events_from *)with;
    perf_zone_        z;
    uint64_t          i = 0;

    while (i < e->count)
        if (perf_zone_at_(e, &i, core_read(), &z) && z.start >= l->from && l->count < l->most) {
            l->to[l->count].name = PERF_ACQ_(&core_read()->names)[z.name]->site.name;
            l->to[l->count].start = z.start;
            l->to[l->count].length = z.length;
            l->to[l->count++].value = z.extra;
        }
}

/* Those that began at `from` or later, at most so many, and the newest of each thread first. */
INSIDE_UNUSED static size_t core_events_since(uint64_t from, core_event *to, size_t most)
{
    core_events_from l;

    l.to = to;
    l.most = most;
    l.count = 0;
    l.from = from;
    perf_events_each_(core_read(), core_events_take, &l);
    return l.count;
}

/* Events that all rings hold now. */
INSIDE_UNUSED static uint64_t core_events(void)
{
    core_events_seen = 0;
    perf_events_each_(core_read(), core_events_of, core_read());
    return core_events_seen;
}
#endif

#if defined(PERF_TREE_H) && !defined(INSIDE_TREE_H)
#define INSIDE_TREE_H
typedef perf_tree_ core_tree;           /* node[0] is the sum of all                             */

/* Of all that is recorded; NULL: no memory. */
INSIDE_UNUSED static core_tree *core_tree_make(void)
{
    return perf_tree_make_(core_read());
}

INSIDE_UNUSED static void core_tree_free(core_tree *tree)
{
    PERF_FREE(tree);
}
#endif

#if defined(PERF_NVTX_H) && !defined(INSIDE_NVTX_H)
#define INSIDE_NVTX_H
/* What happens, when a place for marks is set to none. */
INSIDE_UNUSED static perf_status core_sink_none(void)
{
    return perf_sink_set_(NULL, NULL);
}
#endif

#if defined(PERF_TALLY_H) && !defined(INSIDE_TALLY_H)
#define INSIDE_TALLY_H
INSIDE_UNUSED static uint64_t tally_ns(double ticks, double tick_ns)
{
    return perf_tally_ns_(ticks, tick_ns);
}
#endif

#if defined(PERF_DIAGNOSIS_H) && !defined(INSIDE_DIAGNOSIS_H)
#define INSIDE_DIAGNOSIS_H
/* Every report has a diagnosis from now on. */
INSIDE_UNUSED static void core_diagnoses(void)
{
    core_read()->put_diagnosis = perf_put_diagnosis_;
}
#endif

/* ---- results ---- */

#if defined(PERF_RESULTS_H) && !defined(INSIDE_RESULTS_H)
#define INSIDE_RESULTS_H
#include <stdlib.h>
#define BASELINE_RUNS PERF_BASELINE_RUNS_       /* below it nothing is claimed                   */

/* p-values of several questions, corrected after Holm. */
INSIDE_UNUSED static perf_status baseline_holm(const double *p, size_t n, double *out)
{
    return perf_adjust_holm_(p, n, out);
}

/* perf_baseline_check of a text in memory. */
INSIDE_UNUSED static void baseline_of_text(perf_baseline *b, const char *text, size_t size,
                                           const perf_baseline_opts *opts)
{
    const perf_baseline_opts none = PERF_ZERO;
    perf_checking_           check = PERF_ZERO;
    perf_read_               old, now = PERF_ZERO;
    perf_status              status;
    size_t                   length;
    char                    *own;

    if (!opts)
        opts = &none;
    check.baseline = b;
    check.asked = opts;
    if (!perf_checking_rule_(&check, &opts->accept)) {
        perf_baseline_fail_(b, PERF_EINVAL, 0);
        return;
    }
    perf_read_results_(&old, text, size, check.counter);
    if (old.in.status == PERF_OK) {
        own = perf_saving_text_(NULL, &opts->now, NULL, &length, &status);
        perf_read_own_(&now, own, length, status, check.counter);
    }
    perf_checking_run_(&old, &now, &check);
    perf_read_free_(&old);
    perf_read_free_(&now);
}

/* The table of a baseline, to be freed, and its length; NULL: no memory. */
INSIDE_UNUSED static char *baseline_table(perf_baseline *b, size_t *n)
{
    perf_out_ out = perf_out_grows_();

    perf_put_baseline_(&out, b);
    *n = out.len;
    if (!out.failed)
        return out.p;
    free(out.p);
    return NULL;
}

/* The text of a results file, with the run of `opts` added: to be freed; NULL: it is refused. */
INSIDE_UNUSED static char *results_added(const char *text, size_t size,
                                         const perf_results_opts *opts, size_t *n)
{
    perf_read_   r;
    perf_saving_ s = perf_saving_take_(opts);
    perf_out_    out = PERF_ZERO;

    perf_read_results_(&r, text, size, NULL);
    s.old = &r;
    if (r.in.status == PERF_OK) {
        out = perf_out_grows_();
        perf_put_own_(&out, &s);
    }
    *n = out.len;
    perf_read_free_(&r);
    free(s.loop);
    free(s.scope);
    free(s.bucket);
    return out.p;
}

/* perf_results_save to an open stream. */
INSIDE_UNUSED static perf_status results_to(FILE *file, const perf_results_opts *opts)
{
    perf_status status;
    size_t      len;
    char       *text;

    if (!file)
        return PERF_EINVAL;
    text = perf_saving_text_(NULL, opts, NULL, &len, &status);
    if (text && !perf_out_write_(file, text, len, 0))
        status = PERF_EIO;
    free(text);
    return status;
}

/* What a reader says of it: PERF_OK has at most as many runs as a file keeps. */
INSIDE_UNUSED static perf_status results_read(const char *text, size_t size)
{
    perf_read_  r;
    perf_status status;

    perf_read_results_(&r, text, size, NULL);
    status = r.in.status;
    if (status == PERF_OK && r.runs > PERF_READ_RUNS_)
        status = PERF_ERANGE;
    perf_read_free_(&r);
    return status;
}
#endif

#if defined(PERF_EXPORT_H) && !defined(INSIDE_EXPORT_H)
#define INSIDE_EXPORT_H
/* perf_export_save to an open stream; of results, not of the call tree. */
INSIDE_UNUSED static perf_status export_to(FILE *file, perf_export_format format,
                                           const perf_results_opts *opts)
{
    const perf_export_row_ form = perf_export_row_of_(format);

    perf_status status;
    size_t      len;
    char       *text;

    if (!file || !form.put)
        return PERF_EINVAL;
    text = perf_saving_text_(form.put, opts, NULL, &len, &status);
    if (text && !perf_out_write_(file, text, len, 0))
        status = PERF_EIO;
    free(text);
    return status;
}
#endif

#if defined(PERF_MAIN_H) && !defined(INSIDE_MAIN_H)
#define INSIDE_MAIN_H
typedef perf_growth_ growth;

/* How times grow with a size: the harness tells this only of what it has measured itself. */
INSIDE_UNUSED static growth growth_of(const double *n, const double *ns, size_t count)
{
    perf_times_ times;

    times.n = n;
    times.ns = ns;
    times.count = count;
    return perf_growth_law_(&times);
}
#endif

/* ---- files ---- */

/* The next field of a message of protobuf: its tag and its value or length; NULL: broken. */
#if defined(PERF_TRACE_H) && !defined(INSIDE_TRACE_H)
#define INSIDE_TRACE_H
INSIDE_UNUSED static const char *pb_next(const char *p, const char *end, uint64_t *tag,
                                         uint64_t *value)
{
    return perf_field_read_(p, end, tag, value);
}

/* The number that a field of a message has; 0: it has none. */
INSIDE_UNUSED static uint64_t pb_number(const char *p, const char *end, uint64_t field)
{
    return perf_merge_find_(p, end, field);
}

INSIDE_UNUSED static char *pb_put(char *to, uint64_t number)
{
    return perf_varint_(to, number);
}
#endif

/* ---- devices ---- */

#if defined(PERF_GPU_SCOPE_H) && !defined(INSIDE_GPU_SCOPE_H)
#define INSIDE_GPU_SCOPE_H
/* This thread never asks again which context is in use. */
INSIDE_UNUSED static void gpu_believes_its_context(void)
{
    if (perf_gpu_self_v1_.ring)
        perf_gpu_self_v1_.until = UINT64_MAX;
}
#endif

#if defined(PERF_CUDA_H) && !defined(INSIDE_CUDA_H)
#define INSIDE_CUDA_H
typedef perf_gpu_ring_ gpu_ring;        /* scopes of a context that wait for their times          */

#define GPU_QUESTIONS PERF_GPU_FEW_     /* that a scope's begin asks at most, on average          */

/* PERF_GPU_PART without its block: perf_gpu_scope_end() ends it, wherever the test wants. */
INSIDE_UNUSED static perf_gpu_scope gpu_part_begin(const char *name, perf_stream stream)
{
    perf_gpu_scope s = PERF_ZERO;
    perf_site_    *site = PERF_NULL_;

    if (PERF_ON_())
        site = perf_site_find_(name, PERF_KIND_DEVICE_);
    if (site)
        s.slot = perf_gpu_open_part_(site, PERF_GPU_STREAM_(stream));
    return s;
}
#endif

#if defined(PERF_GPU_BENCH_H) && !defined(INSIDE_GPU_BENCH_H)
#define INSIDE_GPU_BENCH_H
typedef perf_gpu_word_ gpu_gate;        /* what a stream waits for: flag, answer, limit in ns */

INSIDE_UNUSED static void gpu_gate_wait(gpu_gate *gate)
{
    perf_gpu_host_gate_(gate);
}

/* 0: megahertz and the reasons why not more are known. */
INSIDE_UNUSED static int gpu_clock(const perf_gpu_backend *t, int device, unsigned *mhz,
                                   uint64_t *why)
{
    return perf_gpu_clock_(t, device, mhz, why);
}

/* 0 joules, 1 degrees, 2 percent at work; negative: nobody knows. */
INSIDE_UNUSED static double gpu_meter(const perf_gpu_backend *t, int device, int what)
{
    return perf_gpu_meter_(t, device, what);
}
#endif

/* ---- what CUPTI writes ---- */

#if defined(PERF_CUPTI_H) && !defined(INSIDE_CUPTI_H)
#define INSIDE_CUPTI_H
typedef perf_cupti_kernel_ cupti_kernel;
typedef perf_cupti_copy_   cupti_copy;
typedef perf_cupti_call_   cupti_call;
enum { CUPTI_KERNELS = PERF_CUPTI_KERNEL_, CUPTI_COPIES = PERF_CUPTI_COPY_, CUPTI_FILLS = PERF_CUPTI_FILL_,
       CUPTI_PEERS = PERF_CUPTI_PEER_, CUPTI_TAKEN = PERF_CUPTI_TAKEN_, CUPTI_LIMIT = PERF_CUPTI_LIMIT_,
       CUPTI_MIXED = PERF_CUPTI_MIXED_ };
#endif

/* ---- what rocprofiler-sdk hands over ---- */

#if defined(PERF_ROCPROFILER_H) && !defined(INSIDE_ROCPROFILER_H)
#define INSIDE_ROCPROFILER_H
typedef perf_rocprofiler_kernel_ rocprofiler_kernel;
typedef perf_rocprofiler_copy_   rocprofiler_copy;
typedef perf_rocprofiler_record_ rocprofiler_record;
typedef perf_rocprofiler_agent_  rocprofiler_agent;
typedef perf_rocprofiler_tool_   rocprofiler_tool;
typedef perf_rocprofiler_call_   rocprofiler_call;
enum { ROCPROFILER_COPIES = PERF_ROCPROFILER_COPY_, ROCPROFILER_KERNELS = PERF_ROCPROFILER_KERNEL_,
       ROCPROFILER_CODE = PERF_ROCPROFILER_CODE_, ROCPROFILER_SYMBOL = PERF_ROCPROFILER_SYMBOL_,
       ROCPROFILER_LOADED = PERF_ROCPROFILER_LOADED_, ROCPROFILER_LOSSLESS = PERF_ROCPROFILER_LOSSLESS_,
       ROCPROFILER_TRACING = PERF_ROCPROFILER_TRACING_ };
#endif
