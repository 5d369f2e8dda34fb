/* perf_export.h - results, scopes and the trace in other tools' formats.
 *
 *     #include "perf.h"
 *     #include "perf_export.h"
 *     perf_export_save("now.json", PERF_EXPORT_GOOGLE, NULL);     // all benches and A/B loops
 *     perf_export_save("flame.html", PERF_EXPORT_FLAME, NULL);    // where the time went, as a page
 *
 * Optional: only files that write such formats include it.  Our own JSON is in perf_results.h,
 * Perfetto's and Chrome's traces in perf_trace.h and perf.h, histograms in perf_hlog.h.
 * docs/formats.md says what each tool makes of them.  Everything here allocates and does I/O.
 * To add a format: a row in the enum, one in perf_export_row_, and its writer.
 * Sections (search for ">>"):  formats  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_EXPORT_H
#define PERF_EXPORT_H

#include "perf_results.h"

PERF_BEGIN_DECLS

/* >>formats ----------------------------------------------------------------------------------- */

typedef enum perf_export_format {
    PERF_EXPORT_GOOGLE,         /* Google Benchmark: compare.py and the trackers that read it     */
    PERF_EXPORT_GO,             /* Go benchmark text: benchstat; a line a slice                   */
    PERF_EXPORT_OPENMETRICS,    /* scopes as histograms, counters, medians; collectors too        */
    PERF_EXPORT_FOLDED,         /* flamegraph.pl, inferno, speedscope: "main;load;decode 1200", a
                                   line a path of scopes, self time in ns.  Names lose ';', newlines
                                   and bytes that are not UTF-8                                   */
    PERF_EXPORT_FLAME,          /* a page of HTML that shows the same as boxes, widest first; click
                                   to zoom.  Paths of less than 1/5000 of the time are left out.
                                   Its title is `run` of the options                              */
    PERF_EXPORT_FORMATS_
} perf_export_format;

/* To a file, whole or not at all.  The last two write the call tree and of the options use only
 * `run`; the others write what perf_results_save writes.  PERF_EINVAL: no path or no such format,
 * PERF_EIO, PERF_ENOMEM, PERF_ESTATE as perf_results_save.                                       */
PERF_FN perf_status perf_export_save(const char *path, perf_export_format format,
                                     const perf_results_opts *opts);

/* The first three to an open stream, which stays open; PERF_EINVAL for the last two. */
PERF_FN perf_status perf_export_to(FILE *file, perf_export_format format,
                                   const perf_results_opts *opts);

/* "google", "go", ...; NULL for any other number, so that a loop over the names ends. */
PERF_FN const char *perf_export_format_name(perf_export_format format);

/* >>private: bodies --------------------------------------------------------------------------- */

/* ---- results ---- */

/* Both arms of an A/B loop as results of their own, for formats that know no pairs: calls put once
 * for each thing with values, with its name and summary.                                         */
typedef struct perf_arm_ {
    const char         *name, *suffix;  /* suffix: "" or "/baseline" ...                          */
    const perf_saved_  *loop;
    const perf_summary *time;
    int                 arm;
    int                 threads;        /* at once; `bytes` and `items` are those of all          */
    uint64_t            batch;
    double              bytes, items;
} perf_arm_;

PERF_COLD_FN_ int perf_arm_of_(const perf_saving_ *s, size_t k, perf_arm_ *a)
{
    const perf_saved_ *l = &s->loop[k / 2];

    memset(a, 0, sizeof *a);
    a->loop = l;
    a->name = l->name;
    a->suffix = "";
    a->arm = PERF_CAST_(int, k % 2);
    a->time = perf_saved_summary_(l, a->arm);
    if (l->ab) {
        a->suffix = a->arm ? "/candidate" : "/baseline";
        a->batch = a->arm ? l->ab->batch_candidate : l->ab->batch_baseline;
    } else if (a->arm) {
        return 0;
    } else {
        a->batch = l->bench->batch;
        a->bytes = l->bench->opts.bytes;
        a->items = l->bench->opts.items;
    }
    a->threads = 1;
    if (l->own && l->own->threads) {
        a->threads = l->own->threads;
        a->bytes *= a->threads;
        a->items *= a->threads;
    }
    if (!a->batch)
        a->batch = 1;
    return a->time->count > 0 && l->n > 0;
}

/* "name/suffix" as JSON, with `more` behind it. */
PERF_COLD_FN_ void perf_put_arm_name_(perf_out_ *o, const perf_arm_ *a, const char *more)
{
    perf_put_json_(o, a->name);
    o->len--;                                   /* without the closing quote                      */
    perf_say_(o, "%s%s'", a->suffix, more);
}

/* ---- Google Benchmark ---- */

/* One entry up to its time: a repetition (i), or an aggregate of that name. */
PERF_COLD_FN_ void perf_put_google_entry_(perf_out_ *o, const perf_arm_ *a, size_t family, size_t i,
                                          const char *aggregate, double ns)
{
    const perf_loop_ *own = a->loop->own;
    const char       *which = aggregate ? "_" : "";
    int               k;

    perf_put_char_(o, '{');                     /* the user's names first: readers keep the last  */
    for (k = 0; own && k < PERF_COUNTERS_ && own->counter[k][0]; k++)
        if (perf_is_finite_(own->value[k]) && (!aggregate || *aggregate != 's'))
            perf_say_(o, "%j:%r,", own->counter[k], own->value[k]);
    perf_put_(o, "\"name\":");
    perf_put_arm_name_(o, a, which);
    o->len--;                                   /* without the closing quote                      */
    perf_say_(o, "%s','family_index':%z,'per_family_instance_index':0,'run_name':",
              aggregate ? aggregate : "", family);
    perf_put_arm_name_(o, a, "");
    perf_say_(o, ",'run_type':%j,'repetitions':%z", aggregate ? "aggregate" : "iteration",
              a->loop->n);
    if (!aggregate)
        perf_say_(o, ",'repetition_index':%z", i);
    perf_say_(o, ",'threads':%i", a->threads);
    if (aggregate)
        perf_say_(o, ",'aggregate_name':%j,'aggregate_unit':'time'", aggregate);
    perf_say_(o, ",'iterations':%u,'real_time':%r,'cpu_time':%r,'time_unit':'ns'", a->batch, ns,
              ns);
    if (a->bytes > 0.0)
        perf_say_(o, ",'bytes_per_second':%r", a->bytes / ns * 1e9);
    if (a->items > 0.0)
        perf_say_(o, ",'items_per_second':%r", a->items / ns * 1e9);
    perf_put_char_(o, '}');
}

PERF_COLD_FN_ void perf_put_google_(perf_out_ *o, const void *saving)
{
    static const char *const aggregate[] = {"mean", "median", "stddev"};
    const perf_saving_ *s = PERF_CAST_(const perf_saving_ *, saving);
    const char *none = PERF_CAST_(const char *, PERF_NULL_), *build = "debug";
    perf_arm_   a;
    size_t      k, i, family = 0, some = 0;

#if defined(__OPTIMIZE__) || defined(NDEBUG)
    build = "release";
#endif
    perf_put_(o, "{\"context\":{");
    for (i = 0; s->context && s->context[i] && s->context[i + 1]; i += 2)
        perf_say_(o, "%j:%j,", s->context[i], s->context[i + 1]);
    perf_put_(o, "\"date\":\"");
    perf_put_date_(o, s->run.time_s, "+00:00");
    perf_say_(o, "','host_name':%j,'executable':'','num_cpus':%i,'mhz_per_cpu':%u,"
                 "'cpu_scaling_enabled':false,'caches':[],'load_avg':[],"
                 "'library_version':'perf.h','library_build_type':%j,'cpu_model':%j,"
                 "'compiler':%j,'build':%j},\n'benchmarks':[",
              s->run.machine, s->run.cores, PERF_CAST_(uint64_t, s->clock.hz * 1e-6), build,
              s->run.cpu, s->run.compiler, s->run.build);
    for (k = 0; k < 2 * s->loops; k++) {
        double value[3];
        if (!perf_arm_of_(s, k, &a)) {
            const perf_result *r = s->loop[k / 2].bench;
            if (k % 2 || !r || r->time.count)
                continue;
            perf_say_(o, "%s\n {'name':%j,'family_index':%z,'per_family_instance_index':0,"
                         "'run_name':%j,'run_type':'iteration','repetitions':1,"
                         "'repetition_index':0,'threads':1,'error_occurred':true,"
                         "'error_message':%j,'iterations':0,'real_time':0,'cpu_time':0,"
                         "'time_unit':'ns'}",
                      some++ ? "," : "", a.name, family++, a.name, perf_status_text(r->status));
            continue;
        }
        for (i = 0; i < a.loop->n; i++) {
            if (!perf_saved_whole_(a.loop, i))
                continue;
            perf_put_(o, some++ ? ",\n " : "\n ");
            perf_put_google_entry_(o, &a, family, i, none, perf_saved_value_(a.loop, a.arm, i));
        }
        value[0] = a.time->mean;
        value[1] = a.time->p50;
        value[2] = a.time->std;
        for (i = 0; i < 3 && a.time->count > 1 && a.time->std > 0.0; i++) {
            perf_put_(o, ",\n ");
            perf_put_google_entry_(o, &a, family, 0, aggregate[i], value[i]);
        }
        family++;
    }
    perf_put_(o, "]}\n");
}

/* ---- Go: benchmark text ---- */

/* "copy 4 KiB" as copy_4_KiB, with `first` 32 as Copy_4_KiB: no blanks, nor any of Unicode. */
PERF_COLD_FN_ void perf_put_go_word_(perf_out_ *o, const char *s, int first)
{
    perf_char_ c;

    for (; *s; s += c.bytes, first = 0) {
        int blank;
        c = perf_char_of_(s);
        blank = c.code == ' ' || c.code == 0xa0 || (c.code >= 0x1680 && c.code < 0x16c0) ||
                (c.code >= 0x2000 && c.code < 0x2080) || (c.code >= 0x3000 && c.code < 0x3040);
        if (c.broken || c.control || blank)
            perf_put_char_(o, '_');
        else if (c.code >= 'a' && c.code <= 'z')
            perf_put_char_(o, PERF_CAST_(char, *s - first));
        else
            perf_put_n_(o, s, PERF_CAST_(size_t, c.bytes));
    }
}

PERF_COLD_FN_ void perf_put_go_(perf_out_ *o, const void *saving)
{
    const perf_saving_ *s = PERF_CAST_(const perf_saving_ *, saving);
    perf_arm_ a;
    size_t    k, i, j;

    for (k = 0; k < 2 * s->loops; k++)
        for (i = 0; perf_arm_of_(s, k, &a) && i < a.loop->n; i++) {
            const perf_loop_ *own = a.loop->own;
            double            ns = perf_saved_value_(a.loop, a.arm, i);
            if (!perf_saved_whole_(a.loop, i))
                continue;
            perf_put_(o, "Benchmark");
            perf_put_go_word_(o, a.name, 32);
            perf_say_(o, "%s\t%u\t%r ns/op", a.suffix, a.batch, ns);
            if (a.bytes > 0.0)
                perf_say_(o, "\t%r MB/s", a.bytes / ns * 1e3);
            if (a.items > 0.0)
                perf_say_(o, "\t%r items/s", a.items / ns * 1e9);
            for (j = 0; own && j < PERF_COUNTERS_ && own->counter[j][0]; j++)
                if (perf_is_finite_(own->value[j])) {
                    perf_say_(o, "\t%r ", own->value[j]);
                    perf_put_go_word_(o, own->counter[j], 0);
                }
            perf_put_char_(o, '\n');
        }
}

/* ---- OpenMetrics: histograms with fixed bounds ---- */

/* Upper bounds in seconds, the same for every scope, so that machines can be added up. */
#define PERF_BOUNDS_ 31
PERF_COLD_FN_ double perf_metric_bound_(int i)
{
    double x = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 2.0 : 5.0;

    for (i /= 3; i != 8; i += i < 8 ? 1 : -1)
        x = i < 8 ? x / 10.0 : x * 10.0;
    return x;                                   /* 1e-8, 2e-8, 5e-8, 1e-7 ... 100                 */
}

/* Calls in (bound i - 1, bound i]; a bucket of ours (3 % wide) counts where its middle lies. */
PERF_COLD_FN_ void perf_bound_counts_(const perf_saving_ *s, const perf_saved_scope_ *p,
                                      double tick, uint64_t *count)
{
    size_t k;
    int    i;

    memset(count, 0, (PERF_BOUNDS_ + 1) * sizeof *count);
    for (k = 0; k < p->buckets; k++) {
        double sec = perf_bucket_value_(s->bucket[p->bucket + k].index) * tick * 1e-9;
        for (i = 0; i < PERF_BOUNDS_ && sec > perf_metric_bound_(i); i++)
            ;
        count[i] += s->bucket[p->bucket + k].count;
    }
}

/* A sample of a series: name{label="text"} x.  `part`: "_sum" ...; `suffix`: behind the text.    */
PERF_COLD_FN_ void perf_put_sample_(perf_out_ *o, const char *name, const char *part,
                                    const char *label, const char *value, const char *suffix,
                                    double x)
{
    perf_say_(o, "%s%s{%s=", name, part, label);
    perf_put_label_(o, value);
    o->len--;                                   /* without the closing quote                      */
    perf_say_(o, "%s'} %r\n", suffix, perf_is_finite_(x) ? x : 0.0);
}

PERF_COLD_FN_ void perf_put_family_(perf_out_ *o, const char *name, const char *type,
                                    const char *unit, const char *help)
{
    perf_say_(o, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
    if (*unit)
        perf_say_(o, "# UNIT %s %s\n", name, unit);
}

PERF_COLD_FN_ void perf_put_openmetrics_scopes_(perf_out_ *o, const perf_saving_ *s, uint32_t from,
                                                uint32_t to, const char *family, const char *help)
{
    double   tick = s->clock.tick_ns;
    uint64_t count[PERF_BOUNDS_ + 1], total;
    size_t   k, some = 0;
    int      i;
    char     bound[32];

    for (k = 0; k < s->scopes; k++) {
        const perf_saved_scope_ *p = &s->scope[k];
        if (p->row.kind < from || p->row.kind > to || !p->buckets)
            continue;
        if (!some++)
            perf_put_family_(o, family, "histogram", "seconds", help);
        perf_bound_counts_(s, p, tick, count);
        for (i = 0, total = 0; i <= PERF_BOUNDS_; i++) {
            perf_out_ b = perf_out_open_(bound, sizeof bound);
            double    x = perf_metric_bound_(i);
            total += count[i];
            if (i == PERF_BOUNDS_)
                perf_say_(&b, "',le='+Inf");
            else                                /* bounds need a point or an exponent             */
                perf_say_(&b, "',le='%r%s", x, x >= 1.0 ? ".0" : "");
            perf_put_sample_(o, family, "_bucket", "scope", p->row.name, bound,
                             PERF_CAST_(double, total));
        }
        perf_put_sample_(o, family, "_count", "scope", p->row.name, "", PERF_CAST_(double, total));
        perf_put_sample_(o, family, "_sum", "scope", p->row.name, "",
                         PERF_CAST_(double, p->row.sum) * tick * 1e-9);
    }
}

PERF_COLD_FN_ void perf_put_openmetrics_(perf_out_ *o, const void *saving)
{
    const perf_saving_ *s = PERF_CAST_(const perf_saving_ *, saving);
    const perf_saved_  *l;
    perf_arm_ a;
    size_t    k, some = 0;

    perf_put_openmetrics_scopes_(o, s, PERF_KIND_SCOPE_, PERF_KIND_WAIT_, "perf_scope_seconds",
                                 "Time between the begin and the end of a scope.");
    perf_put_openmetrics_scopes_(o, s, PERF_KIND_ASYNC_, PERF_KIND_ASYNC_, "perf_async_seconds",
                                 "Time between the begin and the end of an asynchronous span.");
    for (k = 0; k < s->scopes; k++) {
        const perf_saved_scope_ *p = &s->scope[k];
        if (p->row.kind != PERF_KIND_COUNT_ || !perf_is_finite_(p->row.last))
            continue;
        if (!some++)
            perf_put_family_(o, "perf_value", "gauge", "", "Last value given to perf_count.");
        perf_put_sample_(o, "perf_value", "", "counter", p->row.name, "", p->row.last);
    }
    for (k = some = 0; k < 2 * s->loops; k++) {
        if (!perf_arm_of_(s, k, &a))
            continue;
        for (l = s->loop; l != a.loop; l++)     /* a series is the first loop of its name         */
            if (!strcmp(l->name, a.name) && !l->ab == !a.loop->ab)
                break;
        if (l != a.loop)
            continue;
        if (!some++)
            perf_put_family_(o, "perf_benchmark_seconds", "gauge", "seconds",
                             "Median time of one iteration.");
        perf_put_sample_(o, "perf_benchmark_seconds", "", "benchmark", a.name, a.suffix,
                         a.time->p50 * 1e-9);
    }
    perf_put_(o, "# EOF\n");
}

/* ---- folded stacks and the flame page ---- */

typedef struct perf_flame_ {
    perf_file_  file;
    perf_tree_ *tree;
    double      tick;
    const char *title;
    char        diagnosis[2048];        /* of perf_diagnosis.h; "" without                        */
} perf_flame_;

PERF_COLD_FN_ void perf_folded_name_(perf_file_ *f, const char *name)
{
    perf_out_ o = perf_out_open_(f->p, PERF_FILE_RECORD_);
    char     *end;

    perf_put_clean_(&o, name, '_');
    for (end = f->p + o.len; f->p < end; f->p++)
        if (*f->p == ';')                       /* it stands between the names of a path          */
            *f->p = '_';
}

PERF_COLD_FN_ void perf_folded_go_(void *with)
{
    perf_flame_ *w = PERF_CAST_(perf_flame_ *, with);
    perf_node_  *node = w->tree->node;
    perf_name_ **names = PERF_ACQ_(&w->tree->registry->names);
    uint32_t     i, k, path[PERF_TREE_DEPTH_ + 1];

    for (i = 1; i < w->tree->count; i++) {
        uint32_t depth = 0;
        double   ns = PERF_CAST_(double, node[i].self) * w->tick;
        if (ns < 0.5)
            continue;
        for (k = i; k && depth <= PERF_TREE_DEPTH_; k = node[k].parent)
            path[depth++] = k;
        while (depth) {
            if (w->file.p > w->file.limit)
                perf_file_flush_(&w->file);
            perf_folded_name_(&w->file, names[node[path[--depth]].name]->site.name);
            *w->file.p++ = depth ? ';' : ' ';
        }
        w->file.p = perf_digits_(w->file.p, PERF_CAST_(uint64_t, ns + 0.5));
        *w->file.p++ = '\n';
    }
    perf_file_flush_(&w->file);
}

PERF_COLD_FN_ void perf_flame_go_(void *with)
{
    perf_flame_ *w = PERF_CAST_(perf_flame_ *, with);
    perf_file_  *f = &w->file;
    perf_node_  *node = w->tree->node;
    perf_name_ **names = PERF_ACQ_(&w->tree->registry->names);
    uint32_t     i;

    perf_file_put_(f, "<!doctype html><html lang=en><meta charset=utf-8><title>flame graph</title>"
                      "<meta name=viewport content='width=device-width,initial-scale=1'><style>"
                      ":root{color-scheme:light dark}body{font:13px sans-serif;margin:8px}"
                      "#g{position:relative;margin-top:6px}#g div{position:absolute;height:21px;"
                      "line-height:20px;overflow:hidden;white-space:nowrap;box-sizing:border-box;"
                      "border:1px solid Canvas;padding:0 3px;cursor:pointer;color:#000}"
                      "#d,pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0}"
                      "#g .dim{opacity:.25}input{font:inherit;max-width:60%}</style><h3 id=h></h3>"
                      "<input id=q type=search placeholder='search names' aria-label=search> "
                      "<button id=r>all</button><div id=d></div><pre id=b></pre>"
                      "<div id=g></div><p>A box is a scope, below it what it called; its width is "
                      "its share of the time, its colour its name. Tap for figures and to zoom; "
                      "the boxes above lead back.</p><script>\nconst title=");
    perf_file_putf_(f, "%.0s", w->title);
    /* [parent, name, total ns, self ns, width, calls]; parents stand before their children */
    perf_file_put_(f, ";\nconst node=[");
    for (i = 0; i < w->tree->count; i++) {
        perf_file_put_(f, i ? ",\n" : "");
        if (node[i].total < node[0].total / 5000) {    /* too small to be seen                    */
            perf_file_put_(f, "0");
            continue;
        }
        perf_file_putf_(f, "[%.0f,%.0s,%.0f,%.0f,%.0f,%.0f]", PERF_CAST_(double, node[i].parent),
                        i ? names[node[i].name]->site.name : "all",
                        PERF_CAST_(double, node[i].total) * w->tick,
                        PERF_CAST_(double, node[i].self) * w->tick,
                        PERF_CAST_(double, i ? node[i].size : node[0].total) * w->tick,
                        i ? PERF_CAST_(double, node[i].calls) : 1.0);
    }
    perf_file_put_(f, "];\nconst diagnosis=");
    perf_file_putf_(f, "%.0s", w->diagnosis);
    perf_file_put_(f,
        ";\nconst $=i=>document.getElementById(i),kids=node.map(()=>[]),all=node[0][2]||1;"
        "for(let i=1;i<node.length;i++)if(node[i])kids[node[i][0]].push(i);\n"
        "const time=n=>n<1e3?n+' ns':n<1e6?(n/1e3).toPrecision(3)+' us':"
        "n<1e9?(n/1e6).toPrecision(3)+' ms':(n/1e9).toPrecision(3)+' s';\n"
        "const part=n=>(100*n/all).toFixed(1)+' %';let depth=0,at=0;"
        "$('h').textContent=title;$('b').textContent=diagnosis;\n"
        "const color=s=>{let h=0;for(const c of s)h=(h*31+c.charCodeAt(0))%3600;"
        "return'hsl('+(h%60)+',80%,'+(62+h%20)+'%)'};\n"
        "const words=n=>n[1]+': '+time(n[2])+' in '+n[5]+' calls, '+time(n[3])+' itself, '+"
        "part(n[2])+' of all, '+time(Math.round(n[2]/(n[5]||1)))+' a call';\n"
        "function box(i,x,w,y){if(w<0.05)return;const d=document.createElement('div'),n=node[i],"
        "q=$('q').value.toLowerCase();d.style.left=x+'%';d.style.width=w+'%';d.style.top=y*22+'px';"
        "d.style.background=color(n[1]);d.textContent=n[1]+' '+part(n[2])+' '+time(n[2])+' '+n[5]+"
        "'x';d.title=words(n);if(q&&!n[1].toLowerCase().includes(q))d.className='dim';"
        "d.onclick=()=>{$('d').textContent=words(n);show(i)};$('g').appendChild(d);"
        "depth=Math.max(depth,y+1);\n"
        "for(const k of kids[i]){const c=w*node[k][4]/(n[4]||1);box(k,x,c,y+1);x+=c}}\n"
        "function show(i){at=i;$('g').replaceChildren();depth=0;const up=[];"
        "for(let k=i;k;k=node[k][0])up.unshift(node[k][0]);"
        "up.forEach((k,y)=>{const s=kids[k];kids[k]=[];box(k,0,100,y);kids[k]=s});"
        "box(i,0,100,up.length);$('g').style.height=depth*22+'px'}\n"
        "$('q').oninput=()=>{show(at);const q=$('q').value.toLowerCase();let s=0;"
        "const add=i=>{if(q&&node[i][1].toLowerCase().includes(q))s+=node[i][4];"
        "else kids[i].forEach(add)};add(0);"
        "$('d').textContent=q?'found: '+time(s)+', '+part(s)+' of all':''};\n"
        "$('r').onclick=()=>{$('d').textContent=words(node[0]);show(0)};show(0);\n</script>\n");
    perf_file_flush_(f);
}

PERF_COLD_FN_ perf_status perf_tree_save_(const char *path, const char *title, void (*go)(void *))
{
    perf_registry_ *r = perf_registry_read_();
    perf_flame_     w = PERF_ZERO;
    perf_status     status;

    if (r && PERF_ACQ_(&r->put_diagnosis)) {
        perf_out_ o = perf_out_open_(w.diagnosis, sizeof w.diagnosis);
        r->put_diagnosis(&o, 0);
    }
    w.title = strlen(title) > PERF_NAME_MAX_ ? "perf.h" : title;
    if (!r)
        return PERF_ENOMEM;
    perf_sources_collect_(r);
    w.tick = perf_scope_tick_ns_(r);
    w.tree = perf_tree_make_(r);
    if (!w.tree)
        return PERF_ENOMEM;
    perf_tree_sort_(w.tree);
    status = perf_file_save_(path, &w.file, go, &w);
    perf_tree_free_(w.tree);
    return status;
}

/* ---- the formats by number ---- */

typedef struct perf_export_row_ {
    const char *name;
    void (*put)(perf_out_ *, const void *);     /* of results                                     */
    void (*go)(void *);                         /* of the call tree                               */
} perf_export_row_;

PERF_FN perf_export_row_ perf_export_row_of_(perf_export_format format)
{
    static const perf_export_row_ row[] = {
        {"google", perf_put_google_, PERF_NULL_}, {"go", perf_put_go_, PERF_NULL_},
        {"openmetrics", perf_put_openmetrics_, PERF_NULL_},
        {"folded", PERF_NULL_, perf_folded_go_}, {"flame", PERF_NULL_, perf_flame_go_},
        {PERF_NULL_, PERF_NULL_, PERF_NULL_}};

    return row[PERF_CAST_(unsigned, format) < PERF_EXPORT_FORMATS_ ? format : PERF_EXPORT_FORMATS_];
}

PERF_FN const char *perf_export_format_name(perf_export_format format)
{
    return perf_export_row_of_(format).name;
}

PERF_FN perf_status perf_export_save(const char *path, perf_export_format format,
                                     const perf_results_opts *opts)
{
    perf_export_row_ row = perf_export_row_of_(format);

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!path || !*path || !row.name)
        return PERF_EINVAL;
    if (row.put)
        return perf_saving_save_(path, row.put, opts, PERF_NULL_, 0);
    return perf_tree_save_(path, opts && opts->run ? opts->run : "perf.h", row.go);
}

PERF_FN perf_status perf_export_to(FILE *file, perf_export_format format,
                                   const perf_results_opts *opts)
{
    perf_export_row_ row = perf_export_row_of_(format);

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    return row.put ? perf_saving_to_(file, row.put, opts) : PERF_EINVAL;
}

PERF_END_DECLS

#endif /* PERF_EXPORT_H */
