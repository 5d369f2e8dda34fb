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

/* Numbers and texts of a scope, from index `at` of `events` on, as members of "args".  Takes and
 * returns whether that object is open.                                                           */
PERF_COLD_FN_ int perf_json_values_(perf_json_ *json, perf_out_ *out, const perf_events_ *events,
                                    uint64_t at, int open)
{
    perf_remark_ remark;

    while (events && out->len < 2 * PERF_FILE_RECORD_ && perf_remark_next_(events, &at, &remark)) {
        perf_put_(out, open++ ? "," : ",\"args\":{");
        perf_put_json_(out, PERF_ACQ_(&json->registry->names)[remark.name]->site.name);
        perf_put_char_(out, ':');
        if (remark.kind == PERF_REMARK_IS_TEXT_)
            perf_put_json_(out, remark.text);
        else
            perf_put_real_(out, remark.value);
    }
    return open;
}

/* Opens "args" with the place in the source, but for a key that a number or text at index `at` of
 * `events` has.  Returns whether that object is open.                                            */
PERF_COLD_FN_ int perf_json_place_(perf_json_ *json, perf_out_ *out, const perf_site_ *site,
                                   const perf_events_ *events, uint64_t at)
{
    perf_remark_ remark;
    int          file = 1, line = 1;

    if (!site->file)
        return 0;
    while (events && perf_remark_next_(events, &at, &remark)) {
        const char *name = PERF_ACQ_(&json->registry->names)[remark.name]->site.name;
        file = file && PERF_LIBC_(strcmp)(name, "source_file") != 0;
        line = line && PERF_LIBC_(strcmp)(name, "source_line") != 0;
    }
    if (file) {
        perf_put_(out, ",\"args\":{\"source_file\":");
        perf_put_json_(out, site->file);
    }
    if (line) {
        perf_put_(out, file ? ",\"source_line\":" : ",\"args\":{\"source_line\":");
        perf_put_u64_(out, site->line & 0xffffff);
    }
    return file || line;
}

/* Writes a record up to its time: head, name, place in the source, the values in `events` from
 * index `at` on (0: none), as far as there is room.  Returns its length.                         */
PERF_COLD_FN_ size_t perf_json_head_(perf_json_ *json, char *cursor, const char *head,
                                     const perf_site_ *site, const perf_events_ *events,
                                     uint64_t at)
{
    perf_out_ out = perf_out_open_(cursor, 3 * PERF_FILE_RECORD_);
    int       args;

    perf_put_(&out, ",\n{\"ph\":\"");
    perf_put_(&out, head);
    perf_put_(&out, "\",\"name\":");
    perf_put_json_(&out, site->name);
    args = perf_json_place_(json, &out, site, events, at);
    args = perf_json_values_(json, &out, events, at, args);
    perf_put_(&out, args ? "},\"ts\":" : ",\"ts\":");
    return out.len;
}

/* An instant with its number or text, or a counter's value. */
PERF_COLD_FN_ void perf_json_point_(perf_json_ *json, const perf_zone_ *zone,
                                    const perf_events_ *events, const char *where)
{
    perf_file_ *file = &json->file;
    perf_site_  site = PERF_ACQ_(&json->registry->names)[zone->name]->site;
    double      value = perf_from_bits_(zone->extra);
    perf_out_   out;

    if (zone->kind == PERF_KIND_INSTANT_) {
        file->at += perf_json_head_(json, file->at, "i\",\"s\":\"t", &site, events, zone->remarks);
        file->at = perf_digits_us_(file->at, perf_epoch_ns_(&json->epoch, zone->start));
    } else {
        site.file = PERF_NULL_;                 /* its args are its value                         */
        file->at += perf_json_head_(json, file->at, "C", &site, events, 0);
        file->at = perf_digits_us_(file->at, perf_epoch_ns_(&json->epoch, zone->start));
        out = perf_file_out_(file);
        perf_put_(&out, ",\"args\":{\"value\":");
        perf_put_real_(&out, value);
        perf_put_char_(&out, '}');
        perf_file_wrote_(file, &out);
    }
    perf_file_put_(file, where);
}

/* Both ends of a span that may overlap others. */
PERF_COLD_FN_ void perf_json_span_(perf_json_ *json, const perf_zone_ *zone,
                                   const perf_events_ *events, const char *where)
{
    static const char *const head[2] = {"b\",\"cat\":\"async", "e\",\"cat\":\"async"};
    perf_file_    *file = &json->file;
    perf_site_     site = PERF_ACQ_(&json->registry->names)[zone->name]->site;
    const uint64_t at[2] = {zone->start, zone->start + zone->length};
    int            i;

    for (i = 0; i < 2; i++) {
        file->at += perf_json_head_(json, file->at, head[i], &site, events, 0);
        file->at = perf_digits_us_(file->at, perf_epoch_ns_(&json->epoch, at[i]));
        perf_file_put_(file, ",\"id\":\"");  /* "ID/NAME": names share no track                  */
        file->at = perf_digits_(file->at, zone->extra);
        perf_file_put_(file, "/");
        file->at = perf_digits_(file->at, zone->name);
        perf_file_put_(file, "\"");
        perf_file_put_(file, where);
        site.file = PERF_NULL_;                 /* the begin has said it                          */
    }
}

/* A scope, or what else nests. */
PERF_HOT_FN_ void perf_json_slice_(perf_json_ *json, const perf_zone_ *zone,
                                   const perf_events_ *events, const perf_out_ *where)
{
    perf_file_    *file = &json->file;
    const char    *prefix = json->prefix + PERF_CAST_(size_t, zone->name) * PERF_PREFIX_;
    const uint64_t start = perf_epoch_ns_(&json->epoch, zone->start);
    const uint64_t end = perf_epoch_ns_(&json->epoch, zone->start + zone->length);

    if (zone->name < json->names && *prefix && !zone->value) {
        PERF_LIBC_(memcpy)(file->at, prefix + 1, PERF_PREFIX_);
        file->at += PERF_CAST_(unsigned char, *prefix);
    } else {
        file->at += perf_json_head_(json, file->at, "X",
                                   &PERF_ACQ_(&json->registry->names)[zone->name]->site, events,
                                   zone->value);
    }
    file->at = perf_digits_us_(file->at, start);
    PERF_LIBC_(memcpy)(file->at, ",\"dur\":", 7);
    file->at = perf_digits_us_(file->at + 7, end - start);
    PERF_LIBC_(memcpy)(file->at, where->p, PERF_WHERE_);
    file->at += where->len;
}

/* The events of one thread, newest first: a scope then comes before those inside it, and viewers
 * nest equal times in that order.  Marked hot, because gcc would otherwise see that only cold
 * functions call it, and would use slow divisions to save space.                                 */
PERF_HOT_FN_ void perf_json_thread_(void *with, const perf_events_ *events)
{
    perf_json_ *json = PERF_CAST_(perf_json_ *, with);
    perf_file_ *file = &json->file;
    char        where[PERF_WHERE_];
    perf_out_   out = perf_out_open_(where, sizeof where);
    perf_zone_  zone;
    uint64_t    i = 0;

    perf_putf_(&out, ",\"pid\":%.0f,\"tid\":%.0f}",
               PERF_CAST_(double, PERF_GET_(&json->registry->process)),
               PERF_CAST_(double, events->thread));
    if (events->name[0]) {
        perf_out_ buffer = perf_file_out_(file);
        perf_put_(&buffer, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":");
        perf_put_json_(&buffer, events->name);
        perf_put_char_(&buffer, '}');
        perf_put_(&buffer, where);
        perf_file_wrote_(file, &buffer);
    }
    while (i < events->count) {
        if (!perf_zone_at_(events, &i, json->registry, &zone) ||
            (zone.value && zone.kind == PERF_KIND_INSTANT_))
            continue;
        if (file->at > file->limit)
            perf_file_flush_(file);
        if (zone.slice)
            perf_json_slice_(json, &zone, events, &out);
        else if (zone.kind == PERF_KIND_ASYNC_)
            perf_json_span_(json, &zone, events, where);
        else
            perf_json_point_(json, &zone, events, where);
    }
}

/* Records of scopes up to their time, for all names that are short enough. */
PERF_COLD_FN_ void perf_json_prefixes_(perf_json_ *json)
{
    perf_file_ *file = &json->file;
    uint32_t    id;

    for (id = 1; id < json->names; id++) {
        char  *to = json->prefix + PERF_CAST_(size_t, id) * PERF_PREFIX_;
        size_t n = perf_json_head_(json, file->at, "X",
                                   &PERF_ACQ_(&json->registry->names)[id]->site, PERF_NULL_, 0);
        to[0] = '\0';
        if (n < PERF_PREFIX_)
            to[0] = PERF_CAST_(char, n);
        PERF_LIBC_(memcpy)(to + 1, file->at, PERF_PREFIX_ - 1);
    }
}

/* Writes everything of the process to an open file. */
PERF_COLD_FN_ void perf_json_write_(void *with)
{
    perf_json_  *json = PERF_CAST_(perf_json_ *, with);
    perf_file_  *file = &json->file;
    perf_losses_ losses = perf_losses_sum_(json->registry);
    perf_out_    out;

    perf_json_prefixes_(json);
    out = perf_file_out_(file);
    perf_putf_(&out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten_events\":%.0f,"
                     "\"uncounted_scopes\":%.0f},\"traceEvents\":[\n{\"ph\":\"M\","
                     "\"name\":\"process_labels\",\"args\":{\"labels\":\"perf.h\"},"
                     "\"pid\":%.0f}",
               PERF_CAST_(double, losses.n[PERF_LOSS_OVERWRITTEN_]),
               PERF_CAST_(double, losses.n[PERF_LOSS_LOST_] + losses.n[PERF_LOSS_ORPHANS_]),
               PERF_CAST_(double, PERF_GET_(&json->registry->process)));
    perf_file_wrote_(file, &out);
    if (!perf_events_each_(json->registry, perf_json_thread_, json))
        file->failed = 1;
    perf_file_put_(file, "\n]}\n");
    perf_file_flush_(file);
}

PERF_FN perf_status perf_trace_save(const char *path)
{
    const char *const at_exit = perf_getenv_("PERF_TRACE");
    perf_json_        json = PERF_ZERO;
    perf_status       status;

    json.registry = perf_registry_read_();
    if (!json.registry)
        return PERF_ENOMEM;
    perf_sources_collect_(json.registry);
    json.epoch = perf_epoch_of_(json.registry);
    json.names = PERF_ACQ_(&json.registry->count);
    json.prefix = PERF_CAST_(char *, PERF_MALLOC((json.names + 2) * PERF_PREFIX_));
    if (!json.prefix)
        return PERF_ENOMEM;
    status = perf_file_save_(path, &json.file, perf_json_write_, &json);
    PERF_FREE(json.prefix);
    if (status == PERF_OK && at_exit && !PERF_LIBC_(strcmp)(at_exit, path))
        json.registry->trace_inode = perf_file_inode_(path); /* no other process has written it   */
    return status;
}

#if PERF_DISABLE
#define perf_trace_save(path) PERF_OFF_CODE_((perf_trace_save)(path))
#endif

PERF_END_DECLS

#endif /* PERF_CHROME_H */
