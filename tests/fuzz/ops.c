/* Fuzz target: the input is a program of operations on two histograms of any form, held against a
 * model of counts.  Merges that are refused change nothing; counts agree with the model; a line
 * written from whatever came out is read back into the same form, with all of its values.         */
#include "perf_hlog.h"

#include <stdlib.h>
#include "../inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct model {
    perf_hist_opts o;
    perf_hist     *h;
    uint64_t       count, invalid;
} model;

static const uint8_t *at, *end;
static char           text[1 << 21];

static uint64_t take(int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0 && at < end)
        v = v << 8 | *at++;
    return v;
}

static void must(int ok)
{
    if (!ok)
        abort();
}

static perf_hist *make(const perf_hist_opts *o)
{
    size_t n = perf_hist_bytes(o);

    return perf_hist_init(malloc(n), n, o);
}

static void begin(model *m)
{
    memset(m, 0, sizeof *m);
    m->o.bits = (int)(take(1) % 12) - 1;
    m->o.counter_bytes = 8 >> take(1) % 2;
    m->o.highest = (UINT64_C(3) << take(1) % 62) & (UINT64_MAX >> 1);
    m->o.lowest = UINT64_C(1) << take(1) % 20;
    m->o.unit = take(1) % 8 ? 0.0 : 0.5;
    if (m->o.highest < m->o.lowest || m->o.highest < 2)
        m->o.lowest = m->o.highest = 0;
    m->h = take(1) % 4 ? make(&m->o) : (perf_hist *)(calloc(1, sizeof(perf_hist)));
    must(m->h && perf_hist_attach(m->h, 1 << 30) == m->h);
}

/* Values as they were asked for: what a record loses is counted. */
static void check(const model *m)
{
    const double least = perf_hist_quantile(m->h, 0.0), middle = perf_hist_quantile(m->h, 0.5);

    must(perf_hist_count(m->h) + perf_hist_lost(m->h) == m->count ||
         perf_hist_lost(m->h) > UINT64_MAX / 2);
    must(perf_hist_count(m->h) <= UINT64_MAX >> 1);
    if (perf_hist_count(m->h))
        must(least >= 0.0 && least <= middle && middle <= perf_hist_quantile(m->h, 1.0));
}

static void step(model *m, model *other)
{
    uint64_t    v = take(8) >> take(1) % 64, n, before = perf_hist_count(m->h);
    perf_status st;

    switch (take(1) % 8) {
    case 0: perf_hist_add(m->h, v); break;
    case 1: perf_hist_add_own(m->h, v); break;
    case 2: perf_hist_add_own(m->h, v); break;
    case 3: perf_hist_add_shared(m->h, v); break;
    case 4:
        n = take(8) >> take(1) % 64 >> 4;
        perf_hist_add_n(m->h, v, n);
        m->count += n;
        return;
    case 5:
        st = perf_hist_merge(m->h, other->h);
        must(st == PERF_OK ? perf_hist_count(m->h) == before + perf_hist_count(other->h)
                           : perf_hist_count(m->h) == before);
        m->count += st == PERF_OK ? other->count : 0;
        return;
    case 6:
        if (perf_hist_merge(m->h, other->h) == PERF_OK)
            must(perf_hist_subtract(m->h, other->h) == PERF_OK);
        must(perf_hist_count(m->h) == before);
        return;
    default:
        if (v % 16 == 0) {
            perf_hist_reset(m->h);
            m->count = 0;
        }
        return;
    }
    m->count++;
}

/* What is written can be read, and all of it is there. */
static void saved(const model *m)
{
    perf_hlog_interval iv = PERF_ZERO;
    perf_hlog_reader   r = PERF_ZERO;
    perf_hist_opts     o = hist_form(m->h, m->o);
    perf_hist         *back;

    iv.max_unit = 1e12;
    r.size = perf_hlog_text(text, sizeof text, m->h, &iv);
    must(r.size > 0 && r.size < sizeof text);
    r.text = text;
    back = make(&o);
    must(perf_hlog_next(&r, &iv, back) == PERF_OK);
    must(perf_hist_count(back) == perf_hist_count(m->h) && iv.count == perf_hist_count(m->h));
    must(hist_over(back) == hist_over(m->h));
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model m[2];
    int   i;

    at = data;
    end = data + size;
    begin(&m[0]);
    begin(&m[1]);
    for (i = 0; i < 100 && at < end; i++) {
        step(&m[i % 2], &m[1 - i % 2]);
        check(&m[i % 2]);
    }
    for (i = 0; i < 2; i++) {
        saved(&m[i]);
        free(m[i].h);
    }
    return 0;
}
