# cython: language_level=3, freethreading_compatible=True
"""perf.h for Python code.  Everything lands in the one registry of the process, with the scopes of
all Cython, C and C++ modules.  A `with` costs some 0.1 us of Python beside the scope's own cost."""
import array
import functools
import inspect
import os
import sys

from libc.stdint cimport uint32_t
from libc.string cimport memset
from perfh.perf cimport *
from perfh.perf_memory cimport perf_memory_mark
from perfh._results import Interval, Result, Summary, Verdict


cdef extern from *:
    """
    /* A block is opened by one thread only, also where Python has no lock around everything. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define perfh_swap(flag, value) ((int)_InterlockedExchange8(flag, value))
    #else
    #define perfh_swap(flag, value) ((int)__atomic_exchange_n(flag, value, __ATOMIC_ACQ_REL))
    #endif
    """
    int perfh_swap(char *flag, char value) noexcept nogil       # what it was before


class Error(RuntimeError):
    """What a perf.h call could not do; .status is the perf_status, a number above 0."""


cdef object check(perf_status status):
    if status != PERF_OK:
        error = Error(perf_status_text(status).decode())
        error.status = <int>status
        raise error


cdef bytes text(object name):
    return name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")


cdef bint left_and_resumed(object function):
    return (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or
            inspect.isasyncgenfunction(function))


cdef object function_name(object function):
    name = getattr(function, "__qualname__", None)
    name = name if isinstance(name, str) else type(function).__qualname__
    return name.rpartition("<locals>.")[2]


cdef class Scope:
    """What scope(name) returns: enter it, or call it with the function to decorate."""
    cdef bytes name
    cdef bint wait
    cdef char open
    cdef perf_scope s

    def __cinit__(self, name, bint wait):
        self.name = None if name is None else text(name)
        self.wait = wait

    cdef perf_scope begin(self) noexcept:
        return perf_wait_begin(self.name) if self.wait else perf_scope_begin(self.name)

    def __enter__(self):
        if self.name is None:
            raise TypeError("a block needs a name: with perfh.scope(\"load\")")
        if perfh_swap(&self.open, 1):
            raise RuntimeError("this scope is already open: make one for each block")
        self.s = self.begin()
        return self

    def __exit__(self, kind, value, traceback):
        cdef perf_scope s = self.s              # before another thread may open it
        if perfh_swap(&self.open, 0):
            perf_scope_end(&s)
        return False

    def __call__(self, function):
        cdef Scope named = self
        if not callable(function):
            raise TypeError(f"perfh.scope decorates functions, not {type(function).__name__}")
        if left_and_resumed(function):
            raise TypeError("perfh.scope cannot decorate a function that is left and resumed: "
                            "@perfh.span decorates a coroutine, and `with perfh.span(...)` works "
                            "inside a generator")
        if isinstance(function, type):
            raise TypeError("perfh.scope decorates functions: put it above the methods of a class")
        if self.name is None:
            named = Scope(function_name(function), self.wait)

        @functools.wraps(function)
        def timed(*args, **kwargs):
            cdef perf_scope s = named.begin()
            try:
                return function(*args, **kwargs)
            finally:
                perf_scope_end(&s)
        return timed


def scope(name=None, *, wait=False):
    """with scope("load"): ...   or above a function   @scope   @scope("load")

    Times the block or each call of the function, with what it calls, in this thread; bare @scope
    takes the function's qualified name.  A block that ends by an exception counts too.  One object
    may be used again but not while it is open; as a decorator it may recurse.  Not across `await`,
    and not across `yield` when the generator may end in another thread: use span there.
    wait=True: the block waits for data, its share is in the report."""
    if name is not None and not isinstance(name, (str, bytes)) and callable(name):
        return Scope(None, wait)(name)
    return Scope(name, wait)


cdef class Span:
    """What span(name) returns: enter it, or call it with the coroutine function to decorate."""
    cdef bytes name
    cdef perf_async a
    cdef char open

    def __cinit__(self, name):
        self.name = None if name is None else text(name)

    def __enter__(self):
        if self.name is None:
            raise TypeError("a block needs a name: with perfh.span(\"request\")")
        if perfh_swap(&self.open, 1):
            raise RuntimeError("this span is already open: make one for each block")
        self.a = perf_async_begin(self.name, 0)
        return self

    def end(self):
        cdef perf_async a = self.a
        if perfh_swap(&self.open, 0):
            perf_async_end(&a)

    def __exit__(self, kind, value, traceback):
        self.end()
        return False

    def __call__(self, function):
        if not callable(function) or isinstance(function, type):
            raise TypeError("perfh.span decorates functions")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("perfh.span cannot decorate a generator: use `with perfh.span(...)` inside it")
        name = function_name(function) if self.name is None else self.name
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def timed(*args, **kwargs):
                with Span(name):                # one for each call: they may overlap
                    return await function(*args, **kwargs)
        else:
            @functools.wraps(function)
            def timed(*args, **kwargs):
                with Span(name):
                    return function(*args, **kwargs)
        return timed


def span(name=None):
    """with span("request"): ...   or above a coroutine   @span   @span("request")

    A time that may overlap others, span an `await`, or end in another thread (begin with
    __enter__, end with __exit__ or end())."""
    if name is not None and not isinstance(name, (str, bytes)) and callable(name):
        return Span(None)(name)
    return Span(name)


cdef perf_report_opts options(view, sort, int rows) except *:
    cdef perf_report_opts o
    memset(&o, 0, sizeof(o))
    views = {"table": PERF_VIEW_TABLE, "tree": PERF_VIEW_TREE, "csv": PERF_VIEW_CSV,
             "json": PERF_VIEW_JSON}
    sorts = {"self": PERF_SORT_SELF, "total": PERF_SORT_TOTAL, "calls": PERF_SORT_CALLS,
             "mean": PERF_SORT_MEAN, "max": PERF_SORT_MAX, "name": PERF_SORT_NAME}
    if view not in views:
        raise ValueError(f"view is one of {', '.join(views)}")
    if sort not in sorts:
        raise ValueError(f"sort is one of {', '.join(sorts)}")
    o.view = <perf_view><int>views[view]
    o.sort = <perf_sort><int>sorts[sort]
    o.rows = rows
    return o


def report(file=None, view="table", sort="self", int rows=0):
    """Writes report_text(view, sort, rows) to a text file; None is sys.stderr."""
    file = sys.stderr if file is None else file
    if file is not None:                        # None: a program without a console
        file.write(report_text(view, sort, rows))


def report_text(view="table", sort="self", int rows=0):
    """The report as text.  view: table, tree, csv, json; sort: self, total, calls, mean, max,
    name; rows: 0 for the default, negative for all."""
    cdef perf_report_opts o = options(view, sort, rows)
    cdef size_t cap = 0, need
    cdef bytearray buffer
    cdef char *at
    need = perf_report_text(NULL, 0, &o)
    while need >= cap:                      # other threads may add rows meanwhile
        cap = need + 1024
        buffer = bytearray(cap)
        at = buffer
        with nogil:
            need = perf_report_text(at, cap, &o)
    return bytes(buffer[:need]).decode("utf-8", "replace")


def trace_save(path):
    """Chrome trace JSON, for https://ui.perfetto.dev."""
    cdef bytes name = os.fsencode(path)
    cdef const char *at = name
    cdef perf_status status
    if b"\0" in name:
        raise ValueError("embedded null byte")
    with nogil:
        status = perf_trace_save(at)
    check(status)


def count(name, double value):
    """The value of something now, such as a queue's length."""
    perf_count(text(name), value)


def instant(name):
    """A moment worth seeing in the trace."""
    perf_instant(text(name))


def memory_mark(phase):
    """Marks the end of a phase: memory, page faults, processor time, blocks read and written."""
    check(perf_memory_mark(text(phase)))


def thread_name(name):
    """What the trace calls this thread."""
    perf_thread_name(text(name))


def enable(bint on=True):
    """Switches all recording of the process on or off."""
    perf_enable(on)


def trace_enable(bint on=True):
    """Switches the trace alone on or off."""
    perf_trace_enable(on)


def reset():
    """Forgets all that was recorded, in every thread."""
    perf_reset()


def status():
    """First failure since the start or the last reset(); 0 if there was none."""
    return <int>perf_error()


def status_text(int status):
    """English text of a status."""
    return perf_status_text(<perf_status>status).decode()


# ---- how long, which is faster -----------------------------------------------------------------

cdef object summary(perf_summary *s):
    return Summary(s.count, s.min, s.max, s.mean, s.std, s.p50, s.p95, s.p99, s.p50_low, s.p50_high,
                   s.p95_low, s.p95_high, s.p99_low, s.p99_high)


cdef object interval(perf_interval *i):
    return Interval(i.low, i.estimate, i.high)


cdef tuple warning_texts(uint32_t bits):
    return tuple(perf_warning_text(<uint32_t>1 << i).decode() for i in range(32) if bits >> i & 1)


cdef perf_rule rule_of(rule) except *:
    cdef perf_rule out
    cdef bytes words = text(rule)
    if perf_rule_parse(words, &out) != PERF_OK:
        raise ValueError(f"rule {rule!r}: write 'speedup >= 1.3', 'down >= 20 %' or "
                         "'no regression beyond 2 %', with 'on p95' (p50, p99, mean) behind it if you like")
    return out


cdef object verdict_of(name, rule, perf_verdict *v, baseline, candidate, first_ns, uint32_t warnings):
    return Verdict(
        name=name, decision=perf_decision_text(v.decision).decode(), reason=v.reason.decode(),
        rule=rule, threshold=v.threshold, confidence=v.confidence, ratio=interval(&v.ratio),
        speedup=interval(&v.speedup), pairs=v.pairs, pairs_needed=v.pairs_needed, baseline=baseline,
        candidate=candidate, first_ns=first_ns, warnings=warning_texts(warnings),
        text=perf_verdict_text(v).decode())


cdef class Before:
    """A Python function as the hook before each slice; keeps what it raised for after the loop."""
    cdef object function, error


cdef void before_slice(void *user, int variant) noexcept with gil:
    cdef Before hook = <Before>user
    if hook.error is None:
        try:
            hook.function(variant)
        except BaseException as error:
            hook.error = error


cdef Before hook_of(function):
    cdef Before hook = Before()
    hook.function = function
    return hook


def bench(function, /, *args, name=None, before=None, double max_seconds=0, double bytes=0, double items=0):
    """How long does function(*args) take?  Returns a Result.

    Calls it in slices of 50 us until the median is known to 1 %, for max_seconds at most (0: 1 s).
    A call from here, some 20 to 50 ns, is part of the time.  bytes, items: handled by one call, for
    GB/s and items/s in .text.  before(variant) is called before each slice, not timed."""
    cdef perf_bench_opts o = perf_bench_opts_default()
    cdef perf_bench b
    cdef perf_result r
    cdef Before hook = hook_of(before)
    name = function_name(function) if name is None else name
    o.max_seconds, o.bytes, o.items = max_seconds, bytes, items
    if before is not None:
        o.before = before_slice
        o.user = <void *>hook
    b = perf_bench_begin(text(name), &o)
    try:
        while hook.error is None and perf_bench_next(&b):
            if args:
                function(*args)
            else:
                function()
    finally:                                    # an exception ends the loop
        r = perf_bench_end(&b)
    if hook.error is not None:
        raise hook.error
    check(r.status)
    return Result(str(name), summary(&r.cpu if r.decides == PERF_DECIDES_CPU else &r.time), r.first_ns,
                  r.iterations, warning_texts(r.warnings), perf_result_text(&r).decode())


cdef object numbers(object output):
    """What a function returned, as an array of doubles."""
    if isinstance(output, (int, float)):
        return array.array("d", (output,))
    if hasattr(output, "ravel"):                # NumPy and its like, of any shape
        output = output.ravel().tolist()
    elif hasattr(output, "item") and not hasattr(output, "__len__"):
        output = (output.item(),)
    return array.array("d", output)


cdef perf_accuracy seen_of(reference, output) except *:
    cdef double[::1] a = numbers(reference), b = numbers(output)
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"the baseline returned {a.shape[0]} numbers and the candidate {b.shape[0]}")
    if a.shape[0] == 0:
        raise ValueError("both returned no number: there is nothing to compare")
    return perf_accuracy_f64(&a[0], &b[0], a.shape[0])


def ab(baseline, candidate, /, *args, rule="speedup >= 1.3", name=None, before=None, close=None,
       double max_seconds=0, double confidence=0):
    """Is candidate(*args) better than baseline(*args) by as much as the rule asks?  A Verdict.

    rule        "speedup >= 1.3", "down >= 20 %", "no regression beyond 2 %", and "... on p95"
    before      called as before(0 or 1) before each slice of the baseline or candidate, not timed:
                sets up anew what the two would share
    close       relative tolerance for what they return (numbers, sequences, arrays): outside of it
                the answer is REJECT; None does not look
    max_seconds, confidence     0: 2 s at most, 0.95
    Both take turns in an order that a coin draws; it stops when the question is decided."""
    cdef perf_ab_opts o = perf_ab_opts_default()
    cdef perf_ab_result r
    cdef perf_ab loop
    cdef perf_accuracy seen
    cdef int v
    cdef bint cpu, done = False
    cdef Before hook = hook_of(before)
    first = second = None
    if name is None:
        name = function_name(candidate)
    o.accept.rule = rule_of(rule)
    o.accept.confidence = confidence
    o.max_seconds = max_seconds
    if close is not None:
        o.accept.guard.required = 1
        o.accept.guard.limit.rel = close
    if before is not None:
        o.before = before_slice
        o.user = <void *>hook
    loop = perf_ab_begin(text(name), &o)
    try:
        while hook.error is None:
            v = perf_ab_next(&loop)
            if v < 0:
                break
            if v:
                second = candidate(*args) if args else candidate()
            else:
                first = baseline(*args) if args else baseline()
        if close is not None and hook.error is None:
            seen = seen_of(first, second)
            perf_ab_accuracy(&loop, seen)
    finally:                                    # an exception in one of them ends the loop
        r = perf_ab_end(&loop)
    if hook.error is not None:
        raise hook.error
    check(r.status)
    cpu = r.decides == PERF_DECIDES_CPU
    return verdict_of(str(name), rule, &r.verdict, summary(&r.baseline_cpu if cpu else &r.baseline),
                      summary(&r.candidate_cpu if cpu else &r.candidate),
                      (r.first_baseline_ns, r.first_candidate_ns), r.warnings)


def compare(before, after, /, *, rule="speedup >= 1.3", paired=False, random=False, name="after",
            double confidence=0):
    """The same question about numbers that come from elsewhere: two sequences.  A Verdict.

    paired=True: before[i] and after[i] were taken together, in an order that a coin chose.
    random=True: all values of both were taken in one random order; you vouch for it.
    Neither: never better than INCONCLUSIVE, because what was measured one after the other differs
    whenever the machine has changed meanwhile."""
    cdef perf_compare_opts o
    cdef double[::1] a = numbers(before), b = numbers(after)
    cdef double nothing = 0, *pa = &a[0] if a.shape[0] else &nothing, *pb = &b[0] if b.shape[0] else &nothing
    cdef perf_verdict v
    cdef perf_summary sa, sb
    memset(&o, 0, sizeof(o))
    if paired and random:
        raise ValueError("paired or random, not both")
    if paired and a.shape[0] != b.shape[0]:
        raise ValueError(f"paired, but {a.shape[0]} values before and {b.shape[0]} after")
    o.rule = rule_of(rule)
    o.confidence = confidence
    if random:
        o.design = PERF_DESIGN_RANDOM
    sa, sb = perf_summarize(pa, a.shape[0]), perf_summarize(pb, b.shape[0])
    if paired:
        v = perf_compare_pairs(pa, pb, a.shape[0], &o)
    else:
        v = perf_compare(pa, a.shape[0], pb, b.shape[0], &o)
    check(v.status)
    return verdict_of(name, rule, &v, summary(&sa), summary(&sb), None, v.warnings)
