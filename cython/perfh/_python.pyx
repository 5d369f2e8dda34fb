# cython: language_level=3, freethreading_compatible=True
"""perf.h for Python code.  Everything lands in the one registry of the process, with the scopes of
all Cython, C and C++ modules.  A `with` costs some 0.1 us of Python beside the scope's own cost."""
import os

from perfh.perf cimport *

version = f"{PERF_VERSION // 10000}.{PERF_VERSION // 100 % 100}.{PERF_VERSION % 100}"


class Error(RuntimeError):
    """What a perf.h call could not do; .status is the perf_status, a number above 0."""


cdef object check(perf_status status):
    if status != PERF_OK:
        error = Error(perf_status_text(status).decode())
        error.status = <int>status
        raise error


cdef bytes text(object name):
    return name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")


cdef class scope:
    """with scope("load"): ...   or   @scope("load") above a function.

    Times the block, with what it calls, in this thread.  A block that ends by an exception counts
    too.  One object may be used again but not while it is open; as a decorator it may recurse.
    Not across `await`, and not across `yield` when the generator may end in another thread: use
    span there.  wait=True: the block waits for data, its share is in the report."""
    cdef bytes name
    cdef bint open, wait
    cdef perf_scope s

    def __cinit__(self, name, *, bint wait=False):
        self.name = text(name)
        self.wait = wait

    cdef perf_scope begin(self) noexcept:
        return perf_wait_begin(self.name) if self.wait else perf_scope_begin(self.name)

    def __enter__(self):
        if self.open:
            raise RuntimeError("this scope is already open: make one for each block")
        self.open = True
        self.s = self.begin()
        return self

    def __exit__(self, kind, value, traceback):
        if self.open:
            self.open = False
            perf_scope_end(&self.s)
        return False

    def __call__(self, function):
        import functools
        import inspect

        if any(is_one(function) for is_one in (inspect.iscoroutinefunction, inspect.isgeneratorfunction,
                                               inspect.isasyncgenfunction)):
            raise TypeError("perfh.scope cannot decorate a function that is left and resumed: "
                            "use `with perfh.span(...)` inside it")
        @functools.wraps(function)
        def timed(*args, **kwargs):
            cdef perf_scope s = self.begin()
            try:
                return function(*args, **kwargs)
            finally:
                perf_scope_end(&s)
        return timed


cdef class span:
    """with span("request"): ...   A time that may overlap others, span an `await`, or end in
    another thread (begin with __enter__, end with __exit__ or end())."""
    cdef bytes name
    cdef perf_async a
    cdef bint open

    def __cinit__(self, name):
        self.name = text(name)

    def __enter__(self):
        if self.open:
            raise RuntimeError("this span is already open: make one for each block")
        self.open = True
        self.a = perf_async_begin(self.name, 0)
        return self

    def end(self):
        if self.open:
            self.open = False
            perf_async_end(&self.a)

    def __exit__(self, kind, value, traceback):
        self.end()
        return False


cdef perf_report_opts options(view, sort, int rows) except *:
    cdef perf_report_opts o = perf_report_opts_default()
    views = {"table": PERF_VIEW_TABLE, "tree": PERF_VIEW_TREE, "csv": PERF_VIEW_CSV,
             "json": PERF_VIEW_JSON}
    sorts = {"self": PERF_SORT_SELF, "total": PERF_SORT_TOTAL, "calls": PERF_SORT_CALLS,
             "mean": PERF_SORT_MEAN, "p50": PERF_SORT_P50, "p95": PERF_SORT_P95,
             "p99": PERF_SORT_P99, "max": PERF_SORT_MAX, "name": PERF_SORT_NAME}
    if view not in views:
        raise ValueError(f"view is one of {', '.join(views)}")
    if sort not in sorts:
        raise ValueError(f"sort is one of {', '.join(sorts)}")
    o.view = <perf_view><int>views[view]
    o.sort = <perf_sort><int>sorts[sort]
    o.rows = rows
    return o


def report():
    """The table on stderr."""
    cdef perf_status status
    with nogil:
        status = perf_report()
    check(status)


def report_text(view="table", sort="self", int rows=0):
    """The report as text.  view: table, tree, csv, json; sort: self, total, calls, mean, p50, p95,
    p99, max, name; rows: 0 for the default, negative for all."""
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
