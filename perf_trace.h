/* perf_trace.h - the trace of perf.h in other tools' formats: Perfetto, flame graphs, folded stacks.
 *
 *     #include "perf.h"
 *     #include "perf_trace.h"
 *     perf_trace_save_perfetto("run.pftrace");      // ui.perfetto.dev; 3.5 times smaller than JSON
 *     perf_trace_save_flame("flame.html", "run");   // one page, no network, any browser
 *     perf_trace_save_folded("run.folded");         // for flamegraph.pl, speedscope, inferno
 *
 * Optional: only files that save such formats include it.  What is written is what the rings still
 * hold, as with perf_trace_save(); the file appears whole or not at all.
 * Sections (search for ">>"):  formats  private
 * SPDX-License-Identifier: MIT (full text at the end of perf.h)                                   */
#ifndef PERF_TRACE_H
#define PERF_TRACE_H

#include "perf.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf_trace.h: found another or an older perf.h; keep all files of one release together"
#endif

PERF_BEGIN_DECLS

/* >>formats ----------------------------------------------------------------------------------- */

/* Perfetto's protobuf: about 23 bytes a scope.  Files of several processes or runs of one machine
 * may be concatenated (cat a b > c) and open as one.  PERF_EINVAL, PERF_EIO, PERF_ENOMEM.         */
PERF_FN perf_status perf_trace_save_perfetto(const char *path);

/* "main;load;decode 1200": a line a path of scopes, self time in ns.  Names lose ';' and newlines. */
PERF_FN perf_status perf_trace_save_folded(const char *path);

/* A page that shows the same as boxes, widest first; click to zoom.  title NULL: "perf.h".  Paths
 * of less than 1/5000 of the time are left out.                                                   */
PERF_FN perf_status perf_trace_save_flame(const char *path, const char *title);

/* >>private: bodies, in the order of the prototypes --------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"   /* "inline function given attribute noinline"     */
#endif

/* ---- perfetto ---- */

PERF_FN char *perf_varint_(char *p, uint64_t v)
{
    while (v >= 128) {
        *p++ = PERF_CAST_(char, v & 127);
        p[-1] = PERF_CAST_(char, p[-1] | -128);
        v >>= 7;
    }
    *p++ = PERF_CAST_(char, v);
    return p;
}

/* A field that holds a number. */
PERF_FN char *perf_field_(char *p, uint32_t number, uint64_t v)
{
    return perf_varint_(perf_varint_(p, number << 3), v);
}

/* A field that holds bytes: text, or another message. */
PERF_FN char *perf_field_bytes_(char *p, uint32_t number, const char *bytes, size_t n)
{
    p = perf_varint_(perf_varint_(p, number << 3 | 2), n);
    memcpy(p, bytes, n);
    return p + n;
}

typedef struct perf_pf_ {
    perf_file_      file;
    perf_registry_ *registry;
    perf_epoch_     epoch;
    uint64_t        process;
    int             no_memory;
} perf_pf_;

/* One packet of the trace. */
PERF_FN void perf_pf_packet_(perf_pf_ *w, const char *packet, size_t n)
{
    if (w->file.p > w->file.limit)
        perf_file_flush_(&w->file);
    w->file.p = perf_field_bytes_(w->file.p, 1, packet, n);
}

/* Names as the viewer wants them: UTF-8, or the bytes that are not replaced by '?'. */
PERF_COLD_FN_ size_t perf_pf_text_(char *to, const char *name)
{
    size_t n = 0;

    while (*name) {
        int k = perf_utf8_(name);
        if (!k) {
            to[n++] = '?';
            name++;
        }
        while (k--)
            to[n++] = *name++;
    }
    return n;
}

/* The track of a thread (kind 0), counter (1) or asynchronous span (2), below its process. */
PERF_COLD_FN_ void perf_pf_track_(perf_pf_ *w, uint64_t uuid, int kind, const char *name,
                                  uint64_t thread)
{
    char   packet[1024], track[768], inner[512], text[512];
    char  *p = track, *q = inner;
    size_t n = perf_pf_text_(text, name);

    p = perf_field_(p, 1, uuid);
    if (kind == 0) {
        q = perf_field_(q, 1, w->process);
        q = perf_field_(q, 2, thread);
        if (n)
            q = perf_field_bytes_(q, 5, text, n);
        p = perf_field_bytes_(p, 4, inner, PERF_CAST_(size_t, q - inner));
    } else {
        p = perf_field_bytes_(p, 2, text, n);
        p = perf_field_(p, 5, w->process << 32);
        if (kind == 1)
            p = perf_field_bytes_(p, 8, inner, 0);
    }
    q = perf_field_bytes_(packet, 60, track, PERF_CAST_(size_t, p - track));
    q = perf_field_(q, 10, 1);
    perf_pf_packet_(w, packet, PERF_CAST_(size_t, q - packet));
}

/* Starts the sequence of a thread: its clock counts ns from t0, its names get short numbers. */
PERF_COLD_FN_ void perf_pf_sequence_(perf_pf_ *w, uint64_t sequence, uint64_t uuid, uint64_t t0)
{
    char  packet[256], a[128], b[64];
    char *p = packet, *q = a, *k = b;

    p = perf_field_(p, 10, sequence);
    p = perf_field_(p, 41, 1);                  /* incremental state cleared                       */
    p = perf_field_(p, 13, 1);
    k = perf_field_(k, 1, 3);                   /* CLOCK_MONOTONIC at t0 ...                       */
    k = perf_field_(k, 2, t0);
    q = perf_field_bytes_(q, 1, b, PERF_CAST_(size_t, k - b));
    k = perf_field_(b, 1, 64);                  /* ... is 0 of our own clock: differences in ns    */
    k = perf_field_(k, 2, 0);
    k = perf_field_(k, 3, 1);
    k = perf_field_(k, 4, 1);
    q = perf_field_bytes_(q, 1, b, PERF_CAST_(size_t, k - b));
    q = perf_field_(q, 2, 3);
    p = perf_field_bytes_(p, 6, a, PERF_CAST_(size_t, q - a));
    q = perf_field_(a, 58, 64);
    k = perf_field_(b, 11, uuid);
    q = perf_field_bytes_(q, 11, b, PERF_CAST_(size_t, k - b));
    p = perf_field_bytes_(p, 59, a, PERF_CAST_(size_t, q - a));
    perf_pf_packet_(w, packet, PERF_CAST_(size_t, p - packet));
}

PERF_COLD_FN_ void perf_pf_name_(perf_pf_ *w, uint64_t sequence, uint32_t id)
{
    char  packet[1024], a[640], b[600], text[512];
    char *p = b;

    p = perf_field_(p, 1, id);
    p = perf_field_bytes_(p, 2, text,
                          perf_pf_text_(text, PERF_ACQ_(&w->registry->names)[id]->site.name));
    p = perf_field_bytes_(a, 2, b, PERF_CAST_(size_t, p - b));
    p = perf_field_bytes_(packet, 12, a, PERF_CAST_(size_t, p - a));
    p = perf_field_(p, 10, sequence);
    perf_pf_packet_(w, packet, PERF_CAST_(size_t, p - packet));
}

/* An event with a time of its own, on any track: counters, instants, ends of spans. */
PERF_COLD_FN_ void perf_pf_event_(perf_pf_ *w, uint64_t ns, uint64_t uuid, uint64_t type,
                                  const char *name, uint64_t value_bits)
{
    char  packet[1024], event[700], text[512];
    char *p = event;
    int   i;

    p = perf_field_(p, 9, type);
    p = perf_field_(p, 11, uuid);
    if (name)
        p = perf_field_bytes_(p, 23, text, perf_pf_text_(text, name));
    if (type == 4) {                            /* double, fixed 64 bits                           */
        p = perf_varint_(p, 44 << 3 | 1);
        for (i = 0; i < 8; i++)
            *p++ = PERF_CAST_(char, value_bits >> 8 * i & 255);
    }
    p = perf_field_bytes_(packet, 11, event, PERF_CAST_(size_t, p - event));
    p = perf_field_(p, 8, ns);
    p = perf_field_(p, 58, 3);
    p = perf_field_(p, 10, 1);
    perf_pf_packet_(w, packet, PERF_CAST_(size_t, p - packet));
}

PERF_COLD_FN_ void perf_pf_other_(perf_pf_ *w, const perf_zone_ *z, uint64_t thread_uuid)
{
    const char *name = PERF_ACQ_(&w->registry->names)[z->name]->site.name;
    uint64_t    start = perf_epoch_ns_(&w->epoch, z->start);
    uint64_t    uuid = w->process << 32 | UINT64_C(1) << 31 | PERF_CAST_(uint64_t, z->name) << 8;

    if (z->kind == PERF_KIND_INSTANT_) {
        perf_pf_event_(w, start, thread_uuid, 3, name, 0);
        return;
    }
    if (z->kind == PERF_KIND_ASYNC_)
        uuid += z->extra & 255;
    perf_pf_track_(w, uuid, z->kind == PERF_KIND_COUNT_ ? 1 : 2, name, 0);
    if (z->kind == PERF_KIND_COUNT_) {
        perf_pf_event_(w, start, uuid, 4, PERF_NULL_, z->extra);
    } else {
        perf_pf_event_(w, start, uuid, 1, name, 0);
        perf_pf_event_(w, perf_epoch_ns_(&w->epoch, z->start + z->length), uuid, 2, PERF_NULL_, 0);
    }
}

/* A moment at which a scope begins (name) or ends (0). */
typedef struct perf_edge_ {
    uint64_t ticks;
    uint32_t name, depth;
} perf_edge_;

/* Newest first, each event ends before the one before it; those that contain it are on the stack.
 * Writing from the back gives all begins and ends in order of time, without sorting.  Returns the
 * first of 2n edges; room holds 3n.                                                               */
PERF_HOT_FN_ perf_edge_ *perf_edges_(perf_pf_ *w, const perf_events_ *e, perf_edge_ *room, char *used)
{
    perf_edge_ *stack = room, *out = room + 3 * e->count;
    size_t      top = 0;
    uint64_t    i = 0;
    perf_zone_  z;

    while (i < e->count) {
        if (!perf_zone_at_(e, &i, w->registry, &z))
            continue;
        if (!PERF_KIND_SLICE_(z.kind)) {
            perf_pf_other_(w, &z, w->process << 32 | e->number);
            continue;
        }
        while (top && (z.start < stack[top - 1].ticks ||
                       (z.start == stack[top - 1].ticks &&
                        PERF_CAST_(uint8_t, z.depth - stack[top - 1].depth - 1) > 127)))
            *--out = stack[--top];
        --out;
        out->ticks = z.start + z.length;
        out->name = 0;
        stack[top].ticks = z.start;
        stack[top].name = z.name;
        stack[top++].depth = z.depth;
        used[z.name] = 1;
    }
    while (top)
        *--out = stack[--top];
    return out;
}

PERF_HOT_FN_ void perf_pf_thread_(void *with, const perf_events_ *e)
{
    perf_pf_   *w = PERF_CAST_(perf_pf_ *, with);
    perf_file_ *f = &w->file;
    uint32_t    id, names = PERF_ACQ_(&w->registry->count);
    uint64_t    uuid = w->process << 32 | e->number, sequence = e->number + 1, last, ns;
    size_t      n = PERF_CAST_(size_t, e->count);
    perf_edge_ *room, *edge, *end;
    char       *used;

    if (!n)
        return;
    perf_pf_track_(w, uuid, 0, e->name, e->thread);
    room = PERF_CAST_(perf_edge_ *, PERF_MALLOC(3 * n * sizeof *room));
    used = PERF_CAST_(char *, PERF_MALLOC(names));
    if (room && used) {
        memset(used, 0, names);
        end = room + 3 * n;
        edge = perf_edges_(w, e, room, used);
        last = edge < end ? perf_epoch_ns_(&w->epoch, edge->ticks) : 0;
        if (edge < end)
            perf_pf_sequence_(w, sequence, uuid, last);
        for (id = 1; id < names; id++)
            if (used[id])
                perf_pf_name_(w, sequence, id);
        for (; edge < end; edge++) {
            char *length, *p;
            if (f->p > f->limit)
                perf_file_flush_(f);
            ns = perf_epoch_ns_(&w->epoch, edge->ticks);
            ns = ns < last ? last : ns;
            p = f->p;
            *p++ = 0x0a;                        /* packet; timestamp 8; sequence 10; event 11      */
            length = p++;
            *p++ = 0x40;
            p = perf_varint_(p, ns - last);
            *p++ = 0x50;
            p = perf_varint_(p, sequence);
            *p++ = 0x5a;
            if (edge->name) {
                char *inner = p++;
                *p++ = 0x48;                    /* type 9: begin; name 10                          */
                *p++ = 1;
                *p++ = 0x50;
                p = perf_varint_(p, edge->name);
                *inner = PERF_CAST_(char, p - inner - 1);
            } else {
                *p++ = 2;
                *p++ = 0x48;
                *p++ = 2;
            }
            *length = PERF_CAST_(char, p - length - 1);
            f->p = p;
            last = ns;
        }
    } else {
        w->no_memory = 1;
    }
    PERF_FREE(room);
    PERF_FREE(used);
}

PERF_COLD_FN_ void perf_pf_go_(void *with)
{
    perf_pf_ *w = PERF_CAST_(perf_pf_ *, with);
    char      packet[64], track[48], inner[16];
    char     *p;

    p = perf_field_(inner, 1, w->process);
    p = perf_field_bytes_(perf_field_(track, 1, w->process << 32), 3, inner, PERF_CAST_(size_t, p - inner));
    p = perf_field_bytes_(packet, 60, track, PERF_CAST_(size_t, p - track));
    p = perf_field_(p, 10, 1);
    perf_pf_packet_(w, packet, PERF_CAST_(size_t, p - packet));
    if (!perf_events_each_(w->registry, perf_pf_thread_, w) || w->no_memory)
        w->file.failed = 1;
    perf_file_flush_(&w->file);
}

PERF_FN perf_status perf_trace_save_perfetto(const char *path)
{
    perf_pf_    w;
    perf_status status;

    memset(&w, 0, sizeof w);
    w.registry = perf_registry_get_();
    if (!w.registry)
        return PERF_ENOMEM;
    if (perf_lock_(w.registry))                 /* after a fork: forgets the parent's threads      */
        perf_unlock_(w.registry);
    w.process = PERF_GET_(&w.registry->process);
    w.epoch = perf_epoch_of_(w.registry);
    status = perf_file_save_(path, &w.file, perf_pf_go_, &w);
    return w.no_memory ? PERF_ENOMEM : status;
}

/* ---- folded stacks and the flame page ---- */

typedef struct perf_flame_ {
    perf_file_  file;
    perf_tree_ *tree;
    double      tick;
    const char *title;
} perf_flame_;

PERF_COLD_FN_ void perf_folded_name_(perf_file_ *f, const char *name)
{
    for (; *name; name++) {
        unsigned char c = PERF_CAST_(unsigned char, *name);
        *f->p++ = c < 0x20 || c == 0x7f || c == ';' ? '_' : *name;
    }
}

PERF_COLD_FN_ void perf_folded_go_(void *with)
{
    perf_flame_ *w = PERF_CAST_(perf_flame_ *, with);
    perf_node_  *node = w->tree->node;
    perf_name_ **names = PERF_ACQ_(&w->tree->registry->names);
    uint32_t     i, k, path[PERF_TREE_DEPTH_ + 1];

    for (i = 1; i < w->tree->count; i++) {
        uint32_t depth = 0;
        uint64_t self = node[i].total - node[i].inside;
        double   ns = PERF_CAST_(double, self) * w->tick;
        if (self >> 63 || ns < 0.5)
            continue;
        for (k = i; k && depth <= PERF_TREE_DEPTH_; k = node[k].parent)
            path[depth++] = k;
        while (depth) {
            if (w->file.p > w->file.limit)
                perf_file_flush_(&w->file);
            perf_folded_name_(&w->file, names[node[path[--depth]].name]->site.name);
            *w->file.p++ = depth ? ';' : ' ';
        }
        perf_file_number_(&w->file, PERF_CAST_(uint64_t, ns + 0.5));
        *w->file.p++ = '\n';
    }
    perf_file_flush_(&w->file);
}

/* JSON inside <script>: "</script>" in a name must not end it. */
PERF_COLD_FN_ void perf_flame_text_(perf_file_ *f, const char *s)
{
    char *from = f->p, *p;

    perf_file_json_(f, s);
    for (p = from; p < f->p; p++)
        if (*p == '<') {
            memmove(p + 6, p + 1, PERF_CAST_(size_t, f->p - p - 1));
            memcpy(p, "\\u003c", 6);
            f->p += 5;
            p += 5;
        }
}

PERF_COLD_FN_ void perf_flame_go_(void *with)
{
    perf_flame_ *w = PERF_CAST_(perf_flame_ *, with);
    perf_file_  *f = &w->file;
    perf_node_  *node = w->tree->node;
    perf_name_ **names = PERF_ACQ_(&w->tree->registry->names);
    uint32_t     i;

    perf_file_put_(f, "<!doctype html><meta charset=utf-8><title>flame graph</title><style>"
                      "body{font:12px sans-serif;margin:8px}#g{position:relative}"
                      "#g div{position:absolute;height:17px;line-height:17px;overflow:hidden;"
                      "white-space:nowrap;box-sizing:border-box;border:1px solid #fff;padding:0 3px;"
                      "cursor:pointer}</style><h3 id=h></h3><div id=g></div><script>\nconst title=");
    perf_flame_text_(f, w->title);
    /* [parent, name, total ns, self ns, calls]; a parent always stands before its children */
    perf_file_put_(f, ";\nconst node=[[0,\"all\",");
    perf_file_number_(f, PERF_CAST_(uint64_t, PERF_CAST_(double, node[0].inside) * w->tick));
    perf_file_put_(f, ",0,1]");
    for (i = 1; i < w->tree->count; i++) {
        uint64_t self = node[i].total - node[i].inside;
        perf_file_put_(f, ",\n");
        if (node[i].total < node[0].inside / 5000) {    /* nobody could see it                     */
            perf_file_put_(f, "0");
            continue;
        }
        perf_file_put_(f, "[");
        perf_file_number_(f, node[i].parent);
        perf_file_put_(f, ",");
        perf_flame_text_(f, names[node[i].name]->site.name);
        perf_file_put_(f, ",");
        perf_file_number_(f, PERF_CAST_(uint64_t, PERF_CAST_(double, node[i].total) * w->tick));
        perf_file_put_(f, ",");
        perf_file_number_(f, self >> 63 ? 0 : PERF_CAST_(uint64_t, PERF_CAST_(double, self) * w->tick));
        perf_file_put_(f, ",");
        perf_file_number_(f, node[i].calls);
        perf_file_put_(f, "]");
    }
    perf_file_put_(f,
                   "];\nconst kids=node.map(()=>[]);"
                   "for(let i=1;i<node.length;i++)if(node[i])kids[node[i][0]].push(i);\n"
                   "const time=n=>n<1e3?n+' ns':n<1e6?(n/1e3).toPrecision(3)+' us':"
                   "n<1e9?(n/1e6).toPrecision(3)+' ms':(n/1e9).toPrecision(3)+' s';\n"
                   "const g=document.getElementById('g');document.getElementById('h').textContent=title;\n"
                   "function color(s){let h=0;for(const c of s)h=(h*31+c.charCodeAt(0))%360;"
                   "return'hsl('+(h%60)+',80%,'+(62+h%20)+'%)'}\n"
                   "function box(i,x,w,y){if(w<0.05)return;const d=document.createElement('div'),n=node[i];"
                   "d.style.left=x+'%';d.style.width=w+'%';d.style.top=y*18+'px';"
                   "d.style.background=color(n[1]);d.textContent=n[1];"
                   "d.title=n[1]+'\\n'+time(n[2])+' in '+n[4]+' calls, '+time(n[3])+' itself, '+"
                   "(100*n[2]/(node[0][2]||1)).toFixed(2)+' % of all';"
                   "d.onclick=()=>show(i);g.appendChild(d);top_=Math.max(top_,y+1);"
                   "for(const k of kids[i]){const c=w*node[k][2]/(n[2]||1);box(k,x,c,y+1);x+=c}}\n"
                   "let top_=0;function show(i){g.replaceChildren();top_=0;const up=[];"
                   "for(let k=i;k;k=node[k][0])up.unshift(node[k][0]);"
                   "up.forEach((k,y)=>{const s=kids[k];kids[k]=[];box(k,0,100,y);kids[k]=s});"
                   "box(i,0,100,up.length);g.style.height=top_*18+'px'}\nshow(0);\n</script>\n");
    perf_file_flush_(f);
}

PERF_COLD_FN_ perf_status perf_flame_save_(const char *path, const char *title, void (*go)(void *))
{
    perf_registry_ *r = perf_registry_get_();
    perf_flame_     w;
    perf_status     status;

    if (!path || !*path)
        return PERF_EINVAL;
    memset(&w, 0, sizeof w);
    w.title = title ? title : "perf.h";
    if (strlen(w.title) > PERF_NAME_MAX_)
        w.title = "perf.h";
    if (!r)
        return PERF_ENOMEM;
    if (perf_lock_(r))
        perf_unlock_(r);
    w.tick = perf_scope_tick_ns_(r);
    w.tree = perf_tree_make_(r);
    if (!w.tree)
        return PERF_ENOMEM;
    perf_tree_sort_(w.tree);
    status = perf_file_save_(path, &w.file, go, &w);
    perf_tree_free_(w.tree);
    return status;
}

PERF_FN perf_status perf_trace_save_folded(const char *path)
{
    return perf_flame_save_(path, PERF_NULL_, perf_folded_go_);
}

PERF_FN perf_status perf_trace_save_flame(const char *path, const char *title)
{
    return perf_flame_save_(path, title, perf_flame_go_);
}

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic pop
#endif

PERF_END_DECLS

#endif /* PERF_TRACE_H */
