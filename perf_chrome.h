/* perf_chrome.h - the trace of all threads as Chrome JSON.
 *
 *     perf_trace_save("trace.json");               // open it in https://ui.perfetto.dev
 *
 * Sections (search for ">>"):  trace  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CHROME_H
#define PERF_CHROME_H

#include "perf_events.h"
#include "perf_file.h"

PERF_BEGIN_DECLS

/* >>trace -------------------------------------------------------------------------------------
 * Each thread keeps its last PERF_TRACE_EVENTS scopes.                                           */

/* Writes them as Chrome trace JSON: open it in https://ui.perfetto.dev or chrome://tracing.  The
 * file appears whole or not at all (written beside, then renamed; devices are written directly).
 * Times are perf_now() in microseconds with three decimals: the traces of several processes of one
 * machine fit together.  A scope takes some 130 bytes; perf_trace_save_perfetto() writes 23.
 * PERF_EIO when it cannot be written, PERF_EINVAL for no path.                                   */
PERF_FN perf_status perf_trace_save(const char *path);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

typedef struct perf_json_ {
    perf_file_      file;
    perf_registry_ *registry;
    perf_epoch_     epoch;
    char           *prefix;     /* of all names: record up to its time, PERF_PREFIX_ bytes each   */
    uint32_t        names;
} perf_json_;
#define PERF_PREFIX_ 128        /* the length in the first byte; longer ones are written anew     */
#define PERF_WHERE_  64         /* room for `,"pid":1,"tid":2}`, the end of a record              */

/* Numbers and texts of a scope, from index `at` of e on, as members of "args"; some: it is open.
 * Returns whether it is open then.                                                               */
PERF_COLD_FN_ int perf_json_values_(perf_json_ *j, perf_out_ *o, const perf_events_ *e, uint64_t at,
                                    int some)
{
    perf_seen_ seen;

    while (e && o->len < 2 * PERF_FILE_RECORD_ && perf_remark_next_(e, &at, &seen)) {
        perf_put_(o, some++ ? "," : ",\"args\":{");
        perf_put_json_(o, PERF_ACQ_(&j->registry->names)[seen.name]->site.name);
        perf_put_char_(o, ':');
        if (seen.kind == PERF_REMARK_IS_TEXT_)
            perf_put_json_(o, seen.text);
        else if (perf_is_finite_(seen.value))
            perf_put_fixed_(o, seen.value, 6);
        else
            perf_put_(o, "null");
    }
    return some;
}

/* A record up to its time: head, name, place in the source, the values in e from index `at` on (0:
 * none), as far as there is room.  Returns its length.                                           */
PERF_COLD_FN_ size_t perf_json_head_(perf_json_ *j, char *p, const char *head,
                                     const perf_site_ *site, const perf_events_ *e, uint64_t at)
{
    perf_out_ o = perf_out_open_(p, 3 * PERF_FILE_RECORD_);
    int       args = site->file != PERF_NULL_;

    perf_put_(&o, ",\n{\"ph\":\"");
    perf_put_(&o, head);
    perf_put_(&o, "\",\"name\":");
    perf_put_json_(&o, site->name);
    if (args) {
        perf_put_(&o, ",\"args\":{\"source_file\":");
        perf_put_json_(&o, site->file);
        perf_put_(&o, ",\"source_line\":");
        perf_put_u64_(&o, site->line & 0xffffff);
    }
    args = perf_json_values_(j, &o, e, at, args);
    perf_put_(&o, args ? "},\"ts\":" : ",\"ts\":");
    return o.len;
}

/* An instant with its number or text, a counter's value, or one end of a span that may overlap. */
PERF_COLD_FN_ void perf_json_point_(perf_json_ *j, const perf_zone_ *z, const perf_events_ *e,
                                    const char *where)
{
    perf_file_ *f = &j->file;
    perf_site_  site = PERF_ACQ_(&j->registry->names)[z->name]->site;
    double      value = perf_from_bits_(z->extra);
    perf_out_   o;

    if (z->kind == PERF_KIND_INSTANT_) {
        f->p += perf_json_head_(j, f->p, "i\",\"s\":\"t", &site, e, z->remarks);
        f->p = perf_digits_us_(f->p, perf_epoch_ns_(&j->epoch, z->start));
    } else {
        site.file = PERF_NULL_;                 /* its args are its value                         */
        f->p += perf_json_head_(j, f->p, "C", &site, e, 0);
        f->p = perf_digits_us_(f->p, perf_epoch_ns_(&j->epoch, z->start));
        o = perf_file_out_(f);
        perf_put_(&o, ",\"args\":{\"value\":");
        if (perf_is_finite_(value))
            perf_put_fixed_(&o, value, 6);
        else
            perf_put_(&o, "null");
        perf_put_char_(&o, '}');
        perf_file_wrote_(f, &o);
    }
    perf_file_put_(f, where);
}

/* Both ends of a span that may overlap others. */
PERF_COLD_FN_ void perf_json_span_(perf_json_ *j, const perf_zone_ *z, const perf_events_ *e,
                                   const char *where)
{
    static const char *const head[2] = {"b\",\"cat\":\"async", "e\",\"cat\":\"async"};
    perf_file_   *f = &j->file;
    perf_site_    site = PERF_ACQ_(&j->registry->names)[z->name]->site;
    const uint64_t at[2] = {z->start, z->start + z->length};
    int            i;

    for (i = 0; i < 2; i++) {
        f->p += perf_json_head_(j, f->p, head[i], &site, e, 0);
        f->p = perf_digits_us_(f->p, perf_epoch_ns_(&j->epoch, at[i]));
        perf_file_put_(f, ",\"id\":\"");
        f->p = perf_digits_(f->p, z->extra);
        perf_file_put_(f, "\"");
        perf_file_put_(f, where);
        site.file = PERF_NULL_;                 /* the begin has said it                          */
    }
}

PERF_HOT_FN_ void perf_json_slice_(perf_json_ *j, const perf_zone_ *z, const perf_events_ *e,
                                   const perf_out_ *where)
{
    perf_file_    *f = &j->file;
    const char    *prefix = j->prefix + PERF_CAST_(size_t, z->name) * PERF_PREFIX_;
    const uint64_t start = perf_epoch_ns_(&j->epoch, z->start);
    const uint64_t end = perf_epoch_ns_(&j->epoch, z->start + z->length);

    if (z->name < j->names && *prefix && !z->value) {
        PERF_LIBC_(memcpy)(f->p, prefix + 1, PERF_PREFIX_);
        f->p += PERF_CAST_(unsigned char, *prefix);
    } else {
        f->p += perf_json_head_(j, f->p, "X", &PERF_ACQ_(&j->registry->names)[z->name]->site, e,
                                z->value);
    }
    f->p = perf_digits_us_(f->p, start);
    PERF_LIBC_(memcpy)(f->p, ",\"dur\":", 7);
    f->p = perf_digits_us_(f->p + 7, end - start);
    PERF_LIBC_(memcpy)(f->p, where->p, PERF_WHERE_);
    f->p += where->len;
}

/* The events of one thread, newest first: a scope then comes before those inside it, and viewers
 * nest equal times in that order.  Marked hot, because gcc would otherwise see that only cold
 * functions call it, and would use slow divisions to save space.                                 */
PERF_HOT_FN_ void perf_json_thread_(void *with, const perf_events_ *e)
{
    perf_json_ *j = PERF_CAST_(perf_json_ *, with);
    perf_file_ *f = &j->file;
    char        where[PERF_WHERE_];
    perf_out_   w = perf_out_open_(where, sizeof where);
    perf_zone_  z;
    uint64_t    i = 0;

    perf_put_(&w, ",\"pid\":");
    perf_put_u64_(&w, PERF_GET_(&j->registry->process));
    perf_put_(&w, ",\"tid\":");
    perf_put_u64_(&w, e->thread);
    perf_put_char_(&w, '}');
    if (e->name[0]) {
        perf_out_ o = perf_file_out_(f);
        perf_put_(&o, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":");
        perf_put_json_(&o, e->name);
        perf_put_char_(&o, '}');
        perf_put_(&o, where);
        perf_file_wrote_(f, &o);
    }
    while (i < e->count) {
        if (!perf_zone_at_(e, &i, j->registry, &z) || (z.value && z.kind == PERF_KIND_INSTANT_))
            continue;
        if (f->p > f->limit)
            perf_file_flush_(f);
        if (z.slice)
            perf_json_slice_(j, &z, e, &w);
        else if (z.kind == PERF_KIND_ASYNC_)
            perf_json_span_(j, &z, e, where);
        else
            perf_json_point_(j, &z, e, where);
    }
}

/* Records of scopes up to their time, for all names that are short enough. */
PERF_COLD_FN_ void perf_json_prefixes_(perf_json_ *j)
{
    perf_file_ *f = &j->file;
    uint32_t    id;

    for (id = 1; id < j->names; id++) {
        char  *to = j->prefix + PERF_CAST_(size_t, id) * PERF_PREFIX_;
        size_t n = perf_json_head_(j, f->p, "X", &PERF_ACQ_(&j->registry->names)[id]->site,
                                   PERF_NULL_, 0);
        to[0] = '\0';
        if (n < PERF_PREFIX_)
            to[0] = PERF_CAST_(char, n);
        PERF_LIBC_(memcpy)(to + 1, f->p, PERF_PREFIX_ - 1);
    }
}

/* Writes everything of the process to an open file. */
PERF_COLD_FN_ void perf_json_write_(void *with)
{
    perf_json_  *j = PERF_CAST_(perf_json_ *, with);
    perf_file_  *f = &j->file;
    perf_losses_ l = perf_losses_sum_(j->registry);
    perf_out_    o;

    perf_json_prefixes_(j);
    o = perf_file_out_(f);
    perf_put_(&o, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten_events\":");
    perf_put_u64_(&o, l.n[PERF_LOSS_OVERWRITTEN_]);
    perf_put_(&o, ",\"uncounted_scopes\":");
    perf_put_u64_(&o, l.n[PERF_LOSS_LOST_] + l.n[PERF_LOSS_ORPHANS_]);
    perf_put_(&o, "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_labels\",\"args\":{"
                  "\"labels\":\"perf.h\"},\"pid\":");
    perf_put_u64_(&o, PERF_GET_(&j->registry->process));
    perf_put_char_(&o, '}');
    perf_file_wrote_(f, &o);
    if (!perf_events_each_(j->registry, perf_json_thread_, j))
        f->failed = 1;
    perf_file_put_(f, "\n]}\n");
    perf_file_flush_(f);
}

PERF_FN perf_status perf_trace_save(const char *path)
{
    const char *const at_exit = perf_getenv_("PERF_TRACE");
    perf_json_        j = PERF_ZERO;
    perf_status       status;

    j.registry = perf_registry_read_();
    if (!j.registry)
        return PERF_ENOMEM;
    perf_sources_collect_(j.registry);
    j.epoch = perf_epoch_of_(j.registry);
    j.names = PERF_ACQ_(&j.registry->count);
    j.prefix = PERF_CAST_(char *, PERF_MALLOC((j.names + 2) * PERF_PREFIX_));
    if (!j.prefix)
        return PERF_ENOMEM;
    status = perf_file_save_(path, &j.file, perf_json_write_, &j);
    PERF_FREE(j.prefix);
    if (status == PERF_OK && at_exit && !PERF_LIBC_(strcmp)(at_exit, path))
        j.registry->trace_inode = perf_file_inode_(path);   /* no other process has written it    */
    return status;
}

#if PERF_DISABLE
#define perf_trace_save(path) PERF_OFF_CODE_((perf_trace_save)(path))
#endif

PERF_END_DECLS

#endif /* PERF_CHROME_H */
