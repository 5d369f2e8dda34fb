# cython: language_level=3
# What a Cython user does first, with the answers checked.  Compiled as C and as C++, by Cython 0.29
# and 3, and once more with PERF_DISABLE=1.
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from perfh.perf cimport *
from perfh cimport perf
from perfh.perf_export cimport perf_export_save, PERF_EXPORT_FOLDED

cdef int work(int n) noexcept nogil:
    cdef int i, sum = 0
    cdef perf_scope s = perf_scope_begin(b"work")
    try:
        for i in range(n):
            sum += i ^ n
        return sum                          # leaves through the finally
    finally:
        perf_scope_end(&s)

def raises():
    cdef perf_scope s = perf_scope_begin(b"raises")
    try:
        raise ValueError("from inside the scope")
    finally:
        perf_scope_end(&s)

def report(view=PERF_VIEW_CSV):
    cdef perf_report_opts o
    memset(&o, 0, sizeof(o))
    cdef size_t need
    cdef char *text
    o.view = view
    need = perf_report_text(NULL, 0, &o)
    text = <char *>malloc(need + 1)
    try:
        perf_report_text(text, need + 1, &o)
        return text[:need].decode()
    finally:
        free(text)

def bench():
    cdef perf_bench_opts o = perf_bench_opts_default()      # partly set: the rest stays zero
    cdef perf_bench b
    cdef perf_result r
    cdef double acc = 0
    o.samples = 40
    with nogil:
        b = perf_bench_begin(b"add", &o)
        while perf_bench_next(&b):
            acc += 1.5
            perf_keep(acc)
        r = perf_bench_end(&b)
    return r.status, r.time, r.opts.samples, r.opts.slice_ns    # r.time: a struct of numbers, so a dict

def ab():
    cdef perf_ab_opts o = perf_ab_opts_default()
    cdef perf_ab_result r
    cdef perf_ab a
    cdef int v, x
    o.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, 2.0, PERF_METRIC_PAIR)
    with nogil:
        a = perf_ab_begin(b"less work", &o)
        v = perf_ab_next(&a)
        while v >= 0:
            x = work(10) if v else work(4000)
            perf_keep(x)
            v = perf_ab_next(&a)
        r = perf_ab_end(&a)
    return r.verdict.decision, perf_verdict_text(&r.verdict).decode(), r.opts.max_seconds

cdef perf_hist latency                      # 43 KB, all zero: a module's variables are
def histogram():
    cdef int i
    cdef perf_hist_bucket bucket
    memset(&bucket, 0, sizeof(bucket))
    for i in range(1000):
        perf_hist_add(&latency, i)
    buckets = 0
    while perf_hist_next(&latency, &bucket):
        buckets += 1
    return perf_hist_count(&latency), perf_hist_quantile(&latency, 1.0), buckets

def all():
    cdef perf.perf_scope outer              # the module by name works too
    cdef perf_lap lap
    cdef perf_scope wait
    cdef perf_async a
    assert PERF_VERSION >= 100 and PERF_HIST_NO_DATA == -1.0
    outer = perf.perf_scope_begin(b"outer")
    assert work(1000) != 0
    try:
        raises()
    except ValueError:
        pass
    wait = perf_wait_begin(b"wait")
    perf_scope_end(&wait)
    lap = perf_lap_begin()
    perf_lap_end(&lap, b"lap one")
    perf_lap_end(&lap, b"lap two")
    a = perf_async_begin(b"request", 0)
    perf_async_end(&a)
    perf_count(b"queue", 3.0)
    perf_scope_end(&outer)
    assert perf_export_save(b"run.folded", PERF_EXPORT_FOLDED, NULL) == PERF_OK
    with open("run.folded") as file:
        assert any("outer;work" in line for line in file)
    text = report()
    for row in ('"work",scope,1,', '"raises",scope,1,', '"outer",scope,1,', '"wait",wait,1,',
                '"lap one",scope,1,', '"lap two",scope,1,', '"request",async,1,', '"queue",counter,1,'):
        assert row in text, (row, text)
    assert perf_error() == PERF_OK, perf_status_text(perf_error())
    status, time, samples, slice_ns = bench()
    assert status == PERF_OK and time["count"] == 40, (status, time)
    assert samples == 40 and slice_ns == 50000, (samples, slice_ns)
    decision, sentence, seconds = ab()
    assert decision == PERF_ACCEPT and sentence.startswith("ACCEPT"), sentence
    assert seconds == 2.0, seconds
    assert histogram()[:2] == (1000, 999.0)

def off():
    assert PERF_DISABLE == 1
    cdef perf_scope s = perf_scope_begin(b"x")
    perf_scope_end(&s)
    assert work(1000) != 0
    assert perf_report() == PERF_EDISABLED and perf_trace_save(b"x.json") == PERF_EDISABLED
    assert '"work"' not in report()
