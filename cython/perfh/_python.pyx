# cython: language_level=3, freethreading_compatible=True
"""perf.h for Python code.  Everything lands in the one registry of the process, with the scopes of
all Cython, C and C++ modules.  A `with` costs some 0.1 us of Python beside the scope's own cost."""
import array
import fnmatch
import functools
import inspect
import linecache
import os
import sys
import threading
import time
import types

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcpy, memset
from perfh.perf cimport *
from perfh.perf_cuda cimport (PERF_GPU_DEVICE_TO_DEVICE, PERF_GPU_DEVICE_TO_HOST, PERF_GPU_HOST_TO_DEVICE,
                              perf_gpu_collect, perf_gpu_collect_sync, perf_gpu_copy_begin, perf_gpu_kind,
                              perf_gpu_scope,
                              perf_gpu_scope_begin, perf_gpu_scope_end)
from perfh.perf_counters cimport *
from perfh.perf_diagnosis cimport perf_diagnose, perf_diagnosis
from perfh.perf_export cimport *
from perfh.perf_memory cimport perf_memory_mark
from perfh.perf_results cimport *
from perfh.perf_trace cimport perf_trace_save_perfetto
from perfh import _compare, _trace, _workers
from perfh._words import in_python
from perfh._results import (Baseline, BaselineEntry, Counts, Diagnosis, Interval, Race, RaceEntry, Result,
                            Results, Row, Rows, Summary, Verdict, pause_times)


cdef extern from *:
    """
    /* A block is opened by one thread only, also where Python has no lock around everything. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define perfh_swap(flag, value) ((int)_InterlockedExchange8(flag, value))
    #else
    #define perfh_swap(flag, value) ((int)__atomic_exchange_n(flag, value, __ATOMIC_ACQ_REL))
    #endif

    /* PERF_GPU_WAIT for a name that is known at run time. */
    static perf_scope perfh_gpu_wait_begin(const char *name)
    {
        return perf_named_begin_(name, PERF_KIND_SYNC_);
    }
    """
    int perfh_swap(char *flag, char value) noexcept nogil       # what it was before
    perf_scope perfh_gpu_wait_begin(const char *name) noexcept nogil

    ctypedef struct checked "perf_baseline":    # its fields: the .pxd has none, one is private
        perf_decision decision
        perf_status status
        perf_baseline_entry *entry
        size_t entries, runs, other_runs
    checked checked_of "perf_baseline_check"(const char *path, const perf_baseline_opts *opts) noexcept nogil
    void checked_free "perf_baseline_free"(checked *b) noexcept nogil


cdef extern from "_watch.h":
    bint perfh_watch_begin(const char *last, const char *whole, const char *ask) nogil
    int perfh_watch_end(char what) nogil
    void perfh_watch_forked() nogil


class Error(RuntimeError):
    """What a perf.h call could not do; .status is the perf_status, a number above 0."""


cdef object check(perf_status status):
    if status != PERF_OK:
        error = Error(perf_status_text(status).decode())
        error.status = <int>status
        raise error


cdef object check_loop(perf_status status, const char *why):
    """check() with what a loop or a comparison says of it."""
    try:
        check(status)
    except Error as error:
        words = in_python(why.decode("utf-8", "replace")) if why != NULL else ""
        if words and words not in str(error):
            error.args = (f"{error}: {words}",)
        raise


cdef object check_file(perf_status status, bytes name):
    """check() with the file's name, and what is missing, in the error."""
    try:
        check(status)
    except Error as error:
        path = os.fsdecode(name)
        words = str(error)
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            words = "there is no such folder"
        elif not os.path.exists(path) and status == PERF_ENODATA:
            words += ": there is no such file, or nothing was measured"
        error.args = (f"{path}: {words}",)
        raise


cdef bytes utf8(object name):
    """Names that differ behind a NUL stay apart: it becomes U+FFFD."""
    cdef bytes text = name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")
    if memchr(<const char *>text, 0, len(text)):
        return text.replace(b"\0", b"\xef\xbf\xbd")
    return text


cdef str words_of(object name):
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


cdef bint left_and_resumed(object function):
    return (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or
            inspect.isasyncgenfunction(function))


cdef object refuse_resumed(call, object function):
    if not callable(function):
        raise TypeError(f"perfh.{call} cannot call {function!r}: pass a function, its arguments behind it")
    if left_and_resumed(function) or left_and_resumed(getattr(function, "func", None)) or \
            left_and_resumed(getattr(type(function), "__call__", None)):
        raise TypeError(f"perfh.{call} cannot call {function_name(function)}: a coroutine or generator "
                        "function does nothing when called; pass a function that runs it, as "
                        "lambda: asyncio.run(f()) or lambda: list(f())")


cdef type coroutine_type = types.CoroutineType, generator_type = types.GeneratorType
cdef type async_generator_type = types.AsyncGeneratorType


cdef inline bint not_run(object output) noexcept:
    """Three comparisons: it is asked within what is timed."""
    return (type(output) is coroutine_type or type(output) is generator_type or
            type(output) is async_generator_type)


cdef object refuse_unrun(call, object output):
    """What a lambda around one of them returns."""
    if not_run(output):
        if hasattr(output, "close"):
            output.close()
        raise TypeError(f"perfh.{call}: the function returned an object ({type(output).__name__}) that nobody has "
                        "run; pass a function that runs it, as lambda: asyncio.run(f())")


cdef object check_confidence(double confidence):
    if not 0 <= confidence < 1:
        raise ValueError(f"confidence={confidence:g}: between 0 and 1, as 0.95; 0 for the default")


cdef object function_name(object function):
    name = getattr(function, "__qualname__", None)
    name = name if isinstance(name, str) else type(function).__qualname__
    return name.rpartition("<locals>.")[2]


cdef bint is_descriptor(object name) noexcept:
    """Is it what @property, @classmethod or functools.cached_property makes?"""
    return hasattr(type(name), "__get__")


cdef object below(object function):
    return f": put it below @{type(function).__name__}" if is_descriptor(function) else ""


cdef enum ScopeKind:
    FOR_WORK, FOR_DATA, FOR_DEVICE


cdef class Scope:
    """What scope(name) returns: enter it, or call it with the function to decorate."""
    cdef bytes name
    cdef int kind
    cdef char open
    cdef perf_scope s

    def __cinit__(self, name, int kind):
        self.name = None if name is None else utf8(name)
        self.kind = kind

    cdef perf_scope begin(self) noexcept:
        if self.kind == FOR_DATA:
            return perf_wait_begin(self.name)
        if self.kind == FOR_DEVICE:
            return perfh_gpu_wait_begin(self.name)
        return perf_scope_begin(self.name)

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
            raise TypeError(f"perfh.scope decorates functions, not {type(function).__name__}" + below(function))
        if left_and_resumed(function):
            raise TypeError("perfh.scope cannot decorate a function that is left and resumed: "
                            "@perfh.span decorates a coroutine, and `with perfh.span(...)` works "
                            "inside a generator")
        if isinstance(function, type):
            raise TypeError("perfh.scope decorates functions: put it above the methods of a class")
        if self.name is None:
            named = Scope(function_name(function), self.kind)

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
    if name is not None and not isinstance(name, (str, bytes)) and (callable(name) or is_descriptor(name)):
        return Scope(None, FOR_DATA if wait else FOR_WORK)(name)
    return Scope(name, FOR_DATA if wait else FOR_WORK)


cdef class Span:
    """What span(name) returns: enter it, or call it with the coroutine function to decorate."""
    cdef bytes name
    cdef perf_async a
    cdef char open

    def __cinit__(self, name):
        self.name = None if name is None else utf8(name)

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
            raise TypeError("perfh.span decorates functions" + below(function))
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
    if name is not None and not isinstance(name, (str, bytes)) and (callable(name) or is_descriptor(name)):
        return Span(None)(name)
    return Span(name)


# ---- device scopes -------------------------------------------------------------------------------

cdef class GpuScope:
    """What gpu_scope(name, stream) returns."""
    cdef bytes name
    cdef void *stream
    cdef int copy
    cdef char open
    cdef perf_gpu_scope g

    def __cinit__(self, name, size_t stream, int copy):
        self.name, self.stream, self.copy = utf8(name), <void *>stream, copy

    def __enter__(self):
        if perfh_swap(&self.open, 1):
            raise RuntimeError("this device scope is already open: make one for each block")
        if self.copy < 0:
            self.g = perf_gpu_scope_begin(self.name, self.stream)
        else:
            self.g = perf_gpu_copy_begin(self.name, self.stream, <perf_gpu_kind>self.copy)
        return self

    def __exit__(self, kind, value, traceback):
        cdef perf_gpu_scope g = self.g
        if perfh_swap(&self.open, 0):
            perf_gpu_scope_end(&g)
        return False


cdef object handle_of(stream):
    """A stream's handle: of torch, CuPy and Numba objects, too."""
    for name in ("cuda_stream", "ptr", "handle"):
        stream = getattr(stream, name, stream)
    stream = getattr(stream, "value", stream)           # of ctypes; None: a null pointer
    if stream is None:
        return 0
    if not isinstance(stream, int) or stream < 0:
        raise TypeError(f"gpu_scope: stream={stream!r}: a stream's handle as a number, or a stream of "
                        "torch, CuPy or Numba")
    return stream


def gpu_scope(name, stream=None, *, copy=None):
    """with perfh.gpu_scope("gemm", torch.cuda.current_stream()): ...

    Device time of what is enqueued on that stream in the block: CUDA or HIP; the host never waits.
    stream: its handle, or a stream of torch, CuPy or Numba; None: the default one.  copy: "in", "out"
    or "within" for copies to, from and in the device.  Without a driver nothing is recorded, and
    the report counts what was skipped."""
    kinds = {None: -1, "in": PERF_GPU_HOST_TO_DEVICE, "out": PERF_GPU_DEVICE_TO_HOST,
             "within": PERF_GPU_DEVICE_TO_DEVICE}
    if copy not in kinds:
        raise ValueError(f"copy={copy!r}: one of in, out, within, or None")
    return GpuScope(name, handle_of(stream), kinds[copy])


def gpu_wait(name=None):
    """with perfh.gpu_wait("loss.item"): host time spent waiting for a device; also a decorator.

    With device scopes beside it the diagnosis tells a busy device from one that runs empty at
    each such wait ("syncs")."""
    if callable(name):
        return Scope(None, FOR_DEVICE)(name)
    return Scope(name, FOR_DEVICE)


def gpu_collect(*, bint wait=False):
    """Fetches what devices have finished, as each report does; wait=True: waits for all of it."""
    cdef perf_status status
    with nogil:
        status = perf_gpu_collect_sync() if wait else perf_gpu_collect()
    check(status)


cdef perf_report_opts options(view, sort, int rows) except *:
    cdef perf_report_opts o
    memset(&o, 0, sizeof(o))
    views = {"table": PERF_VIEW_TABLE, "tree": PERF_VIEW_TREE, "csv": PERF_VIEW_CSV,
             "json": PERF_VIEW_JSON, "diagnosis": PERF_VIEW_DIAGNOSIS}
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
    """The report as text.  view: table, tree, csv, json, diagnosis; sort: self, total, calls, mean,
    max, name; rows: 0 for the default, negative for all.  Scopes of workers follow those of this
    process."""
    return _workers.with_workers(own_report(view, sort, rows), view)


cdef object own_report(view, sort, int rows):
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
    return in_python(bytes(buffer[:need]).decode("utf-8", "replace"))


cdef bytes file_name(path):
    cdef bytes name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("embedded null byte")
    return name


def scopes():
    """All that was recorded in this process as a list of Row, and what workers recorded behind it.  A
    notebook shows it as a table."""
    return Rows(_workers.rows(own_report("json", "self", -1), Row))


def diagnose(trace=None, *, against=None):
    """What bounds the program: a Diagnosis; str() of it are the five lines.  Error: no scope was
    called 8 times.

    trace: a torch.profiler object after its block, or the path of its trace: a TraceDiagnosis, by
    the program perf-ab.  against: another trace, taken after a change: the text says what changed."""
    cdef perf_diagnosis d
    cdef perf_status status
    if trace is not None:
        return _trace.diagnose(trace, against)
    if against is not None:
        raise TypeError("diagnose: against compares two traces; give the first, too")
    with nogil:
        status = perf_diagnose(&d)
    if status == PERF_ENODATA:
        error = Error("no data: no scope was called 8 times: put one step in perfh.scope()")
        error.status = <int>status
        raise error
    check(status)
    return Diagnosis(
        bound=perf_diagnosis_text(d.bound).decode(), unit=d.unit.decode("utf-8", "replace"),
        calls=d.calls, mean_ns=d.mean_ns, where=d.where.decode("utf-8", "replace"),
        where_share=d.where_share, best=d.best, advice=in_python(d.advice.decode()),
        verify=d.verify.decode("utf-8", "replace"), text=own_report("diagnosis", "self", 0))


def trace_save(path):
    """Chrome trace JSON, for https://ui.perfetto.dev; Perfetto's protobuf where the path ends in
    .pftrace."""
    cdef bytes name = file_name(path)
    cdef const char *at = name
    cdef bint perfetto = name.endswith(b".pftrace")
    cdef perf_status status
    with nogil:
        status = perf_trace_save_perfetto(at) if perfetto else perf_trace_save(at)
    check_file(status, name)


def export(path, format="flame"):
    """Writes what was recorded for another tool.  format: flame (a page to look at), folded
    (stacks), google, go (benchmarks), openmetrics (Prometheus)."""
    cdef bytes name = file_name(path)
    cdef const char *at = name
    cdef perf_export_format kind
    cdef perf_status status
    formats = {"flame": PERF_EXPORT_FLAME, "folded": PERF_EXPORT_FOLDED, "go": PERF_EXPORT_GO,
               "google": PERF_EXPORT_GOOGLE, "openmetrics": PERF_EXPORT_OPENMETRICS}
    if format not in formats:
        raise ValueError(f"format={format!r}: one of {', '.join(formats)}")
    kind = <perf_export_format><int>formats[format]
    with nogil:
        status = perf_export_save(at, kind, NULL)
    check_file(status, name)


# ---- a worker's thread, for _workers.py ----------------------------------------------------------

def watch_begin(last, whole, ask):
    return perfh_watch_begin(file_name(last), file_name(whole), file_name(ask))


def watch_end(bint write):
    cdef char what = b"w" if write else b"q"
    cdef bint ended
    with nogil:                         # waits for the thread
        ended = perfh_watch_end(what)
    return ended


def watch_forked():
    perfh_watch_forked()


# ---- results and baselines -----------------------------------------------------------------------

def results_save(path, label=None):
    """Writes all benches, A/B loops and scopes of this process as JSON, which perf-ab reads."""
    cdef bytes name = file_name(path), mark = None if label is None else utf8(label)
    cdef const char *at = name
    cdef perf_results_opts o
    cdef perf_status status
    memset(&o, 0, sizeof(o))
    o.label = NULL if mark is None else <const char *>mark
    with nogil:
        status = perf_results_save(at, &o)
    check_file(status, name)


def baseline_save(path, label=None, *, bint add=True):
    """Adds this run to a file of runs, or creates it; add=False: the file holds this run alone."""
    cdef bytes name = file_name(path), mark = None if label is None else utf8(label)
    cdef const char *at = name
    cdef perf_results_opts o
    cdef perf_status status
    memset(&o, 0, sizeof(o))
    o.label = NULL if mark is None else <const char *>mark
    o.alone = not add
    with nogil:
        status = perf_baseline_add(at, &o)
    check_file(status, name)


def baseline_check(path, rule=None, *, double confidence=0, bint any_machine=False):
    """Holds what this process has measured against a file of runs.  A Baseline, true only when all
    of it is ACCEPT.  rule None: no regression beyond 5 %.  any_machine=True: runs of other machines
    count like those of this one."""
    cdef bytes name = file_name(path)
    cdef const char *at = name
    cdef perf_baseline_opts o
    cdef checked b
    cdef perf_baseline_entry *e
    cdef size_t i
    memset(&o, 0, sizeof(o))
    check_confidence(confidence)
    if rule is not None:
        o.accept.rule = rule_of(rule)
    o.accept.confidence = confidence
    o.any_machine = any_machine
    with nogil:
        b = checked_of(at, &o)
    try:
        check_file(b.status, name)
        entries = []
        for i in range(b.entries):
            e = &b.entry[i]
            entries.append(BaselineEntry(
                e.name.decode("utf-8", "replace"), perf_decision_text(e.decision).decode(), e.runs,
                bool(e.missing), e.before, e.now, in_python(perf_verdict_text(&e.verdict).decode())))
        return Baseline(perf_decision_text(b.decision).decode(), b.runs, b.other_runs, entries)
    finally:
        checked_free(&b)


# ---- histograms ----------------------------------------------------------------------------------

cdef uint64_t MOST = <uint64_t>-1 >> 1, NONE = <uint64_t>1 << 63      # the largest value; counted as lost


cdef uint64_t whole(double x) noexcept:
    """The number that perf_hist_add_double counts."""
    if not x > -0.5:                            # NaN, too
        return NONE
    if x >= 9223372036854775807.0:
        return MOST
    return <uint64_t>x + (x - <double><uint64_t>x >= 0.5)


cdef class Histogram:
    """Counts of values: any quantile afterwards, in memory that does not grow.

    bits        7: values are kept within 0.4 %; 10: within 0.05 %, as HdrHistogram with 3 digits
    Values are whole numbers of any unit, usually ns.  One thread at a time.  Histograms add up
    exactly (+=), can be pickled, and so come back from other processes."""
    cdef void *memory
    cdef perf_hist *h
    cdef size_t size

    def __cinit__(self, int bits=0):
        cdef perf_hist_opts o
        memset(&o, 0, sizeof(o))
        o.bits = bits
        self.size = 0 if bits < 0 else perf_hist_bytes(&o)
        if not self.size:
            raise ValueError(f"bits={bits}: not between 1 and 14")
        self.memory = malloc(self.size)
        if not self.memory:
            raise MemoryError()
        self.h = perf_hist_init(self.memory, self.size, &o)
        if not self.h:
            raise ValueError(f"bits={bits}: no histogram has so many")

    def __dealloc__(self):
        free(self.memory)

    def add(self, value, uint64_t times=1):
        """Counts a value, or each value of a sequence, an array or a buffer of numbers.  What is
        2^63 or more counts as 2^63 - 1."""
        cdef double[::1] many
        cdef Py_ssize_t i
        if isinstance(value, int):
            perf_hist_add_n(self.h, NONE if value < 0 else min(value, MOST), times)
            return
        many = numbers(value)
        if times == 1:
            for i in range(many.shape[0]):
                perf_hist_add_double(self.h, many[i])
        elif many.shape[0] == 1:
            perf_hist_add_n(self.h, whole(many[0]), times)
        else:
            raise ValueError(f"times={times}: for one value alone")

    def __len__(self):
        return <Py_ssize_t>min(perf_hist_count(self.h), MOST)

    @property
    def count(self):
        return perf_hist_count(self.h)

    @property
    def lost(self):
        """Values that had no place: negative ones, NaN, or too many of them."""
        return perf_hist_lost(self.h)

    @property
    def mean(self):
        """NaN: no value."""
        return perf_hist_mean(self.h) if perf_hist_count(self.h) else float("nan")

    @property
    def std(self):
        """NaN: no value."""
        return perf_hist_std(self.h) if perf_hist_count(self.h) else float("nan")

    def quantile(self, double q):
        """The value below which a share q of all lies; 0: the least, 1: the largest; NaN: no value."""
        if not 0 <= q <= 1:
            raise ValueError(f"q={q:g}: between 0 and 1")
        return perf_hist_quantile(self.h, q) if perf_hist_count(self.h) else float("nan")

    def quantiles(self, q):
        """Several at once, as an array of doubles: numpy.asarray() takes it without a copy."""
        cdef double[::1] asked = numbers(q)
        out = array.array("d", bytes(8 * asked.shape[0]))
        cdef double[::1] to = out
        cdef Py_ssize_t i
        for i in range(asked.shape[0]):
            to[i] = self.quantile(asked[i])
        return out

    def rank(self, double value):
        """How many values lie at or below that one."""
        return perf_hist_rank(self.h, value)

    def buckets(self):
        """(lowest, highest, count) of each bucket that holds values, in ascending order."""
        cdef perf_hist_bucket b
        found = []
        memset(&b, 0, sizeof(b))
        while perf_hist_next(self.h, &b):
            found.append((b.lower, b.upper, b.count))
        return found

    def __iadd__(self, Histogram other not None):
        other = Histogram.from_bytes(self.to_bytes()) if other is self else other
        check(perf_hist_merge(self.h, other.h))
        return self

    def __isub__(self, Histogram other not None):
        other = Histogram.from_bytes(self.to_bytes()) if other is self else other
        check(perf_hist_subtract(self.h, other.h))
        return self

    def reset(self):
        perf_hist_reset(self.h)

    def to_bytes(self):
        """All of it, for from_bytes() of a program on this kind of machine."""
        return PyBytes_FromStringAndSize(<char *>self.memory, self.size)

    @staticmethod
    def from_bytes(bytes data not None):
        """What to_bytes() gave.  ValueError: it is none."""
        cdef Histogram made = Histogram.__new__(Histogram)
        cdef void *memory = malloc(len(data) or 1)
        if not memory:
            raise MemoryError()
        memcpy(memory, <const char *>data, len(data))
        free(made.memory)
        made.memory = memory
        made.size = len(data)
        made.h = perf_hist_attach(memory, made.size)
        if not made.h:
            raise ValueError("these bytes are no histogram")
        return made

    def __reduce__(self):
        return Histogram.from_bytes, (self.to_bytes(),)

    def __repr__(self):
        return f"<perfh.Histogram of {self.count} values>"


def wait(name=None):
    """scope(name, wait=True): the block, or each call of the function, waits for data."""
    return scope(name, wait=True)


cdef class Lap:
    """What lap() returns: call it with a name at the end of each phase."""
    cdef perf_lap l
    cdef object thread

    def __cinit__(self):
        self.l = perf_lap_begin()
        self.thread = threading.get_ident()

    def __call__(self, name):
        """Ends a phase: what has passed since lap(), or the last call, is its time."""
        cdef bytes phase = utf8(name)
        if self.thread != threading.get_ident():
            raise RuntimeError("a lap belongs to the thread that began it")
        perf_lap_end(&self.l, phase)


def lap():
    """lap = perfh.lap(); read(); lap("read"); parse(); lap("parse"): phases of a loop, one call each."""
    return Lap()


def value(name, double value):
    """A number for the scope that is open in this thread: how many rows, which epoch."""
    perf_scope_value(utf8(name), value)


def text(name, text):
    """A text for the scope that is open in this thread: which file.  Cut to 63 bytes."""
    perf_scope_text(utf8(name), utf8(text))


def variant(name, otherwise=0):
    """Which variant of a change to run: what PERF_VARIANT="name=B" in the environment asks for (A or
    0: 0, B or 1: 1, ...), else `otherwise`.  Keep the answer."""
    if not isinstance(otherwise, int):
        raise TypeError(f"otherwise={otherwise!r}: the number of a variant: 0 for A, 1 for B")
    return perf_variant(utf8(name), otherwise)


cdef struct OpenSchedule:
    perf_schedule s
    OpenSchedule *before                # begun before this one, and open; NULL: none


cdef OpenSchedule *last_schedule = NULL
cdef char schedules_lock = 0            # for a Python without GIL


cdef void schedule_begin(OpenSchedule *begun, const perf_schedule_opts *opts) noexcept nogil:
    global last_schedule
    while perfh_swap(&schedules_lock, 1):
        pass
    begun.s = perf_schedule_begin(opts)
    if begun.s.open:
        begun.before = last_schedule
        last_schedule = begun
    perfh_swap(&schedules_lock, 0)


cdef void schedule_end(OpenSchedule *ended) noexcept nogil:
    """While a later one is open, that one decides; its end brings back what was before both."""
    global last_schedule
    cdef OpenSchedule *later = NULL
    cdef OpenSchedule *at
    while perfh_swap(&schedules_lock, 1):
        pass
    at = last_schedule
    while at and at != ended:
        later = at
        at = at.before
    if at and later:
        later.before = at.before
        later.s.was_on = at.s.was_on
        at.s.was_on = last_schedule.s.phase == PERF_PHASE_ACTIVE
    elif at:
        last_schedule = at.before
    perf_schedule_end(&ended.s)
    perfh_swap(&schedules_lock, 0)


cdef class Schedule:
    """What schedule() returns: enter it, and call step() first thing in each step."""
    cdef OpenSchedule own
    cdef perf_schedule_opts o
    cdef bint begun

    def __cinit__(self, int wait, int warmup, int active, int repeat, int skip):
        memset(&self.own, 0, sizeof(self.own))
        memset(&self.o, 0, sizeof(self.o))
        self.o.wait, self.o.warmup = wait or -1, warmup or -1
        self.o.active, self.o.repeat, self.o.skip = active, repeat, skip

    def __dealloc__(self):                      # left without an end
        schedule_end(&self.own)

    cdef void begin(self) noexcept:
        schedule_begin(&self.own, &self.o)
        self.begun = True

    def __enter__(self):
        if self.own.s.open:
            raise RuntimeError("this schedule is already open: make one for each block")
        self.begin()
        return self

    def __exit__(self, kind, value, traceback):
        schedule_end(&self.own)
        return False

    def step(self):
        """A step begins.  Its phase: "wait", "warmup", "active" (recorded) or "done"."""
        if not self.begun:
            self.begin()
        phases = {PERF_PHASE_WAIT: "wait", PERF_PHASE_WARMUP: "warmup", PERF_PHASE_ACTIVE: "active"}
        return phases.get(perf_schedule_step(&self.own.s), "done")

    @property
    def recorded(self):
        """Active steps so far."""
        return self.own.s.recorded


def schedule(*, int wait=1, int warmup=1, int active=3, int repeat=0, int skip=0):
    """with perfh.schedule(wait=1, warmup=1, active=3) as s: ... s.step() first in each step.

    As in torch.profiler: only active steps are recorded.  repeat: cycles; 0: until the end."""
    for name, steps in (("wait", wait), ("warmup", warmup), ("repeat", repeat), ("skip", skip)):
        if steps < 0:
            raise ValueError(f"{name}={steps}: 0 or more")
    if active < 1:
        raise ValueError(f"active={active}: 1 or more")
    return Schedule(wait, warmup, active, repeat, skip)


def count(name, double value):
    """The value of something now, such as a queue's length."""
    perf_count(utf8(name), value)


def instant(name):
    """A moment worth seeing in the trace."""
    perf_instant(utf8(name))


def memory_mark(phase):
    """Marks the end of a phase: memory, page faults, processor time, blocks read and written."""
    check(perf_memory_mark(utf8(phase)))


def thread_name(name):
    """What the trace calls this thread."""
    perf_thread_name(utf8(name))


def enable(bint on=True):
    """Switches all recording of the process on or off."""
    perf_enable(on)


def trace_enable(bint on=True):
    """Switches the trace alone on or off."""
    perf_trace_enable(on)


def reset():
    """Forgets all that was recorded, in every thread, and what workers have left."""
    perf_reset()
    _workers.forget()


def status():
    """First failure since the start or the last reset(); 0 if there was none."""
    return <int>perf_error()


def status_text(int status):
    """English text of a status."""
    return perf_status_text(<perf_status>status).decode()


include "_auto.pxi"


# ---- how long, which is faster -----------------------------------------------------------------

cdef object summary(perf_summary *s):
    return Summary(s.count, s.min, s.max, s.mean, s.std, s.p50, s.p95, s.p99, s.p50_low, s.p50_high,
                   s.p95_low, s.p95_high, s.p99_low, s.p99_high)


cdef object interval(perf_interval *i):
    return Interval(i.low, i.estimate, i.high)


cdef tuple warning_texts(uint32_t bits):
    return tuple(in_python(perf_warning_text(<uint32_t>1 << i).decode()) for i in range(32) if bits >> i & 1)


cdef perf_rule rule_of(rule) except *:
    cdef perf_rule out
    cdef bytes words = utf8(rule)
    if perf_rule_parse(words, &out) != PERF_OK:
        raise ValueError(f"rule {rule!r}: write 'speedup >= 1.3', 'down >= 20 %' or "
                         "'no regression beyond 2 %', with 'on p95' (p50, p99, mean) behind it if you like")
    return out


cdef bint on_count(perf_rule *rule) noexcept:
    return rule.metric >= PERF_METRIC_INSTRUCTIONS


cdef tuple rules_into(perf_ab_opts *o, rule):
    """Fills in the rules of a loop; returns them as a tuple, that of o.accept first."""
    rules = tuple(rule) if isinstance(rule, (tuple, list)) else (rule,)
    if not 1 <= len(rules) <= 2:
        raise ValueError(f"rule={rule!r}: one rule, or two that both have to hold")
    first = rule_of(rules[0])
    if len(rules) == 2:
        second = rule_of(rules[1])
        if on_count(&first) and not on_count(&second):
            first, second, rules = second, first, rules[::-1]
        if not on_count(&second):
            raise ValueError(f"rule={rule!r}: of two one is on instructions, cycles, branches or "
                             "branch-misses")
        o.also = second
    o.accept.rule = first
    return rules


cdef extern from *:
    """
    #define counted_of(c, arm) ((c)->iteration[arm])
    """
    const double *counted_of(perf_counters *c, int arm) noexcept


cdef class Counting:
    """The processor's counters of one loop, or none."""
    cdef perf_counters c
    cdef bint on

    def __cinit__(self):
        self.on = False

    cdef object begin(self, perf_loop *loop):
        """Of the calling thread, between begin and first next of the loop."""
        cdef perf_counters_opts o
        memset(&o, 0, sizeof(o))
        o.which = (1 << PERF_COUNTER_INSTRUCTIONS | 1 << PERF_COUNTER_CYCLES | 1 << PERF_COUNTER_BRANCHES |
                   1 << PERF_COUNTER_BRANCH_MISSES)
        self.c = perf_counters_open(&o)
        self.on = True
        perf_counters_loop(&self.c, loop)

    cdef str missing(self, bint paused):
        """What does not count, by reason."""
        reasons = {}
        for i in range(4):
            why = perf_counters_why(&self.c, <perf_counter>i)
            if why != NULL:
                name = ("instructions", "cycles", "branches", "branch misses")[i]
                reasons.setdefault(why.decode(), []).append(name)
        if paused:
            return "not counted: what the function does while paused would count, too"
        return "; ".join([f"no {', '.join(names)}: {why}" for why, names in reasons.items()])

    cdef object counts(self, const double *value, bint paused):
        """Counts of an arm; None: nobody asked."""
        if not self.on:
            return None
        return Counts(*[None if value[i] != value[i] else value[i] for i in range(4)], self.missing(paused))

    cdef object of_arm(self, int arm, bint paused):
        return self.counts(counted_of(&self.c, arm), paused)

    cdef object close(self):
        if self.on:
            perf_counters_close(&self.c)


cdef object verdict_of(name, rule, perf_verdict *v, baseline, candidate, first_ns, uint32_t warnings, tuple notes=(),
                       tuple parts=(), counts=None):
    return Verdict(
        parts=parts, counts=counts,
        name=name, decision=perf_decision_text(v.decision).decode(), reason=in_python(v.reason.decode()),
        rule=rule, threshold=v.threshold, confidence=v.confidence, ratio=interval(&v.ratio),
        speedup=interval(&v.speedup), pairs=v.pairs, pairs_needed=v.pairs_needed, baseline=baseline,
        candidate=candidate, first_ns=first_ns, warnings=warning_texts(warnings) + notes,
        text=in_python(perf_verdict_text(v).decode()))


cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1


cdef int let_others_run() except -1:
    """Once a slice: what Python does between two functions of its own, for Ctrl-C and for other threads.
    A function of C gives no occasion."""
    PyErr_CheckSignals()
    with nogil:
        pass
    return 0


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
    if function is not None and not callable(function):
        raise TypeError(f"before={function!r}: a function of the number of the variant, or None")
    hook.function = function
    return hook


cdef extern from "Python.h":
    void *PyThreadState_GetDict_ "PyThreadState_GetDict"()


cdef object LOOP = object()                     # the key of a thread's Timed


cdef class Timed:
    """The loop under way in a thread."""
    cdef perf_loop *loop
    cdef uint64_t pauses


cdef Timed timed_here(bint make):
    """None: there is none yet, and none was asked for."""
    cdef void *d = PyThreadState_GetDict_()
    cdef Timed t = None
    if d:
        t = (<dict>d).get(LOOP)
        if t is None and make:
            t = (<dict>d)[LOOP] = Timed()
    return Timed() if t is None and make else t


class Pause:
    """What pause() returns: the end of a `with` block resumes."""
    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        resume()
        return False


cdef object PAUSE = Pause()


def pause():
    """with perfh.pause(): ...   or pause() and later resume(), in a function that bench or ab calls.

    What lies between is not timed: data to be made anew.  What the pause itself costs is taken off,
    but for the calls from Python, some 100 ns a pair: where that is over 1 %, a note says how much and
    the interval of bench holds the time without it.  Elsewhere it does nothing."""
    cdef Timed t = timed_here(False)
    if t is not None and t.loop:
        t.pauses += 1
        perf_bench_pause(t.loop)
    return PAUSE


def resume():
    """Ends a pause()."""
    cdef Timed t = timed_here(False)
    if t is not None and t.loop:
        perf_bench_resume(t.loop)


cdef double pair_ns():
    """What a pause costs in Python, without a loop that it stops."""
    cdef double best = 1e9, now
    cdef int i
    for i in range(5):
        now = time.perf_counter_ns()
        pause_times(pause, 100)
        best = min(best, (time.perf_counter_ns() - now) / 100)
    return best


cdef double pause_ns(Timed t, uint64_t calls, double ns):
    """Python's part of the pauses of one call; 0: under 1 % of ns, the median of one call."""
    cdef double each
    if not t.pauses or not calls:
        return 0
    each = pair_ns() * t.pauses / calls
    return each if each > 0.01 * ns else 0


cdef tuple pause_notes(double each):
    """Says what pause_ns found."""
    if not each:
        return ()
    return (f"the calls of pause() and resume() are in it, about {each:.0f} ns: pause around more",)


def bench(function, /, *args, name=None, before=None, double max_seconds=0, double bytes=0, double items=0,
          bint counters=False):
    """How long does function(*args) take?  Returns a Result.

    Calls it in slices of 50 us until the median is known to 1 %, for max_seconds at most (0: 1 s).
    A call from here, some 20 to 50 ns, is part of the time.  bytes, items: handled by one call, for
    GB/s and items/s in .text.  before(variant) is called before each slice, not timed.
    counters=True: .counts has instructions, cycles, branches and misses of a call of this thread."""
    cdef perf_bench_opts o = perf_bench_opts_default()
    cdef perf_bench b
    cdef perf_result r
    cdef Before hook = hook_of(before)
    cdef bint first = True
    cdef Timed timed = timed_here(True)
    cdef perf_loop *outer
    cdef uint64_t pauses
    cdef double each = 0
    cdef Counting counting = Counting()
    counts = None
    refuse_resumed("bench", function)
    for option, number in (("max_seconds", max_seconds), ("bytes", bytes), ("items", items)):
        if not number >= 0:
            raise ValueError(f"{option}={number:g}: 0 or more")
    name = function_name(function) if name is None else name
    o.max_seconds, o.bytes, o.items = max_seconds, bytes, items
    if before is not None:
        o.before = before_slice
        o.user = <void *>hook
    b = perf_bench_begin(utf8(name), &o)
    if counters:
        counting.begin(&b)
    outer, pauses, timed.loop, timed.pauses = timed.loop, timed.pauses, &b, 0
    try:
        while hook.error is None and perf_bench_next(&b):
            if first:
                first = False
                refuse_unrun("bench", function(*args))
                continue
            if perf_loop_slice_begins(&b):
                let_others_run()
            if args:
                function(*args)
            else:
                function()
    finally:                                    # an exception ends the loop
        timed.loop = NULL                       # an exception left it paused: it has ended
        r = perf_bench_end(&b)
        each = pause_ns(timed, r.iterations, r.time.p50)
        counts = counting.of_arm(0, timed.pauses > 0)
        counting.close()
        timed.loop, timed.pauses = outer, pauses
    if hook.error is not None:
        raise hook.error
    check_loop(r.status, r.why)
    if each:                                    # twice, as a loop need not pay what was measured here
        r.time.p50_low = max(r.time.p50_low - 2 * each, 0.0)
        r.cpu.p50_low = max(r.cpu.p50_low - 2 * each, 0.0)
    return Result(words_of(name), summary(&r.cpu if r.decides == PERF_DECIDES_CPU else &r.time), r.first_ns,
                  r.iterations, warning_texts(r.warnings) + pause_notes(each),
                  in_python(perf_result_text(&r).decode()), counts)


def sweep(function, arguments, /, *, name=None, before=None, double max_seconds=0, items=None):
    """How long does function(x) take for each x of arguments?  A list of Results, one after the other.

    perfh.sweep(sorted_copy, [100, 1000, 10000]): entries "sorted_copy/100", ...  A tuple among the
    arguments is several of them: (4096, 8) calls function(4096, 8), "name/4096/8".  Where that is
    too long or the same for two, its number stands there.  items(x) is how many one call handles.
    The rest is as in bench; max_seconds is that of each."""
    refuse_resumed("sweep", function)
    given = [one if isinstance(one, tuple) else (one,) for one in arguments]
    if not given:
        raise ValueError("perfh.sweep: there are no arguments")
    name = function_name(function) if name is None else words_of(name)
    words = ["/".join(map(str, args)) for args in given]
    return Results(bench(function, *args, before=before, max_seconds=max_seconds,
                         items=0 if items is None else items(*args),
                         name=f"{name}/{word if len(word) < 40 and words.count(word) == 1 else i}")
                   for i, (args, word) in enumerate(zip(given, words)))


cdef object numbers(object output):
    """A number, a sequence or an array of numbers as an array of doubles."""
    if isinstance(output, (int, float)):
        return array.array("d", (output,))
    if hasattr(output, "ravel"):                # NumPy and its like, of any shape
        flat = output.ravel()
        output = flat.tolist()[0] if getattr(flat, "ndim", 1) == 2 else flat.tolist()   # 2: of a matrix
    elif hasattr(output, "item") and not hasattr(output, "__len__"):
        output = (output.item(),)
    elif isinstance(output, (str, bytes)):
        raise TypeError(f"numbers are wanted, not {type(output).__name__}")
    return array.array("d", output)


cdef perf_accuracy seen_of(reference, output) except *:
    left, right = _compare.pairs_of(reference, output)
    cdef double[::1] a = left, b = right
    return perf_accuracy_f64(&a[0], &b[0], a.shape[0])


def ab(baseline, candidate, /, *args, rule="speedup >= 1.3", name=None, before=None, close=None,
       double max_seconds=0, double confidence=0, bint counters=False):
    """Is candidate(*args) better than baseline(*args) by as much as the rule asks?  A Verdict.

    rule        "speedup >= 1.3", "down >= 20 %", "no regression beyond 2 %", and "... on p95"; on a
                count "instructions down >= 5 %"; ("p50 down >= 5 %", "instructions down >= 2 %"):
                both have to hold, and the answer is the worse of .parts
    counters    True: .counts; a rule on a count counts anyway
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
    cdef bint cpu
    cdef int looked = 0
    cdef Before hook = hook_of(before)
    cdef Timed timed = timed_here(True)
    cdef perf_loop *outer = timed.loop
    cdef uint64_t pauses = timed.pauses, calls = 0
    cdef Counting counting = Counting()
    cdef object alone
    first = second = counts = None
    refuse_resumed("ab", baseline)
    refuse_resumed("ab", candidate)
    check_confidence(confidence)
    if not max_seconds >= 0:
        raise ValueError(f"max_seconds={max_seconds:g}: 0 or more")
    if close is not None and not close >= 0:
        raise ValueError(f"close={close!r}: a relative tolerance of 0 or more, or None")
    if name is None:
        name = function_name(candidate)
    rules = rules_into(&o, rule)
    o.accept.confidence = confidence
    o.max_seconds = max_seconds
    if close is not None:
        o.accept.guard.required = 1
        o.accept.guard.limit.rel = close
    if before is not None:
        o.before = before_slice
        o.user = <void *>hook
    loop = perf_ab_begin(utf8(name), &o)
    if counters or on_count(&o.accept.rule) or len(rules) > 1:
        counting.begin(&loop)
    timed.loop, timed.pauses = &loop, 0
    try:
        while hook.error is None:
            v = perf_ab_next(&loop)
            if v < 0:
                break
            calls += 1
            if looked == 2 and perf_loop_slice_begins(&loop):
                let_others_run()
            if v:
                second = candidate(*args) if args else candidate()
            else:
                first = baseline(*args) if args else baseline()
            if looked < 2:                      # the first call of each
                looked += 1
                refuse_unrun("ab", second if v else first)
        refuse_unrun("ab", first)
        refuse_unrun("ab", second)
        if close is not None and hook.error is None:
            seen = seen_of(first, second)
            perf_ab_accuracy(&loop, seen)
    finally:                                    # an exception in one of them ends the loop
        timed.loop = NULL
        r = perf_ab_end(&loop)
        notes = pause_notes(pause_ns(timed, calls, r.candidate.p50))
        if counting.on:
            counts = tuple([counting.of_arm(v, timed.pauses > 0) for v in range(2)])
        counting.close()
        timed.loop, timed.pauses = outer, pauses
    if hook.error is not None:
        raise hook.error
    check_loop(r.status, r.why)
    cpu = r.decides == PERF_DECIDES_CPU
    first = summary(&r.baseline_cpu if cpu else &r.baseline)
    second = summary(&r.candidate_cpu if cpu else &r.candidate)
    alone = (r.first_baseline_ns, r.first_candidate_ns)
    parts = [verdict_of(words_of(name), rules[v], &r.part[v], first, second, alone, r.part[v].warnings)
             for v in range(r.parts)]
    return verdict_of(words_of(name), rule, &r.verdict, first, second, alone, r.warnings, notes, tuple(parts), counts)


cdef object race_variants(functions):
    """(names, functions) of a dict, or of a sequence: then by their names, numbered where alike."""
    if hasattr(functions, "keys"):
        names, calls = [words_of(name) for name in functions], list(functions.values())
    else:
        calls = list(functions)
        names = [function_name(function) for function in calls]
        names = [f"{name} ({i})" if names.count(name) > 1 else name for i, name in enumerate(names)]
    if not 2 <= len(calls) <= 64:
        raise ValueError(f"perfh.race: {len(calls)} functions: 2 to 64")
    for function in calls:
        if not callable(function):
            raise TypeError(f"perfh.race: {type(function).__name__} cannot be called")
        refuse_resumed("race", function)
    return names, calls


cdef object refuse_unlike(names, outputs, double close):
    """ValueError: a variant returns something else than the first."""
    for name, output in zip(names[1:], outputs[1:]):
        left, right = _compare.pairs_of(outputs[0], output)
        for x, y in zip(left, right):
            if not _compare.alike(x, y, close):
                raise ValueError(f"perfh.race: {name} returns something else than {names[0]}: "
                                 f"{y:g}, not {x:g}, with close={close:g}")


cdef object race_of(name, names, rule, tuple rules, perf_race_result *r, tuple notes, Counting counting,
                    bint paused):
    cdef perf_summary time
    cdef perf_verdict v, part
    cdef double counted[4]
    cdef object base, alone
    entries = []
    for i in range(r.count):
        time, v = r.entry[i].time, r.entry[i].verdict
        own, first = summary(&time), r.entry[i].first_ns
        base = entries[0].time if i else None
        alone = (entries[0].first_ns, first) if i else None
        parts = []
        for k in range(r.entry[i].parts):
            part = r.entry[i].part[k]
            parts.append(verdict_of(names[i], rules[k], &part, base, own, alone, part.warnings))
        verdict = None if i == 0 else verdict_of(names[i], rule, &v, base, own, alone, 0, (), tuple(parts))
        counted = r.entry[i].counted
        entries.append(RaceEntry(names[i], own, first, verdict, r.entry[i].behind,
                                 bool(r.entry[i].within_noise), counting.counts(counted, paused)))
    return Race(words_of(name), entries, r.best, r.rounds, warning_texts(r.warnings) + notes)


def race(functions, /, *args, rule="speedup >= 1.3", name="race", before=None, close=None,
         double max_seconds=0, double confidence=0, bint counters=False):
    """Which of 2 to 64 functions is fastest at function(*args)?  A Race.

    functions   {"loop": f, "numpy": g, ...}, or a sequence of them; the first is the baseline
    rule        each of the others is held against the first by it; no rule on p95, p99 or the mean;
                on counts, and two rules, as in ab
    counters    True: each entry has .counts; a rule on a count counts anyway
    close       relative tolerance for what they return at first: ValueError where one lies outside
    before      called as before(number) before each slice, not timed
    max_seconds, confidence     0: 2 s at most for each; 0.95, that no verdict is wrong
    Every round calls all of them in a new random order; it stops when all are decided."""
    cdef perf_ab_opts o = perf_ab_opts_default()
    cdef perf_race_result r
    cdef perf_race loop
    cdef int v, looked = 0
    cdef uint64_t turns = 0
    cdef Before hook = hook_of(before)
    cdef Timed timed = timed_here(True)
    cdef perf_loop *outer = timed.loop
    cdef uint64_t pauses = timed.pauses
    cdef Counting counting = Counting()
    cdef bint paused = False
    names, calls = race_variants(functions)
    check_confidence(confidence)
    if not max_seconds >= 0:
        raise ValueError(f"max_seconds={max_seconds:g}: 0 or more")
    if close is not None and not close >= 0:
        raise ValueError(f"close={close!r}: a relative tolerance of 0 or more, or None")
    rules = rules_into(&o, rule)
    if o.accept.rule.metric != PERF_METRIC_PAIR and not on_count(&o.accept.rule):
        raise ValueError(f"rule {rule!r}: a race holds typical times against each other, no p95 or "
                         "mean: perfh.ab does")
    o.accept.confidence = confidence
    o.max_seconds = max_seconds
    if before is not None:
        o.before = before_slice
        o.user = <void *>hook
    outputs = [None] * len(calls)
    missing = set(range(len(calls)))
    loop = perf_race_begin(utf8(name), <int>len(calls), &o)
    for v in range(len(calls)):
        perf_race_name(&loop, v, utf8(names[v]))
    if counters or on_count(&o.accept.rule) or len(rules) > 1:
        counting.begin(&loop)
    timed.loop, timed.pauses = &loop, 0
    try:
        while hook.error is None:
            v = perf_race_next(&loop)
            if v < 0:
                break
            turns += 1
            if looked == len(calls) and perf_loop_slice_begins(&loop):
                let_others_run()
            output = calls[v](*args)
            if looked < len(calls) and v in missing:        # the first call of each
                missing.discard(v)
                looked += 1
                refuse_unrun("race", output)
                outputs[v] = output
                if close is not None and not missing:
                    refuse_unlike(names, outputs, close)
    finally:                                    # an exception in one of them ends the loop
        timed.loop = NULL
        r = perf_race_end(&loop)
        notes = pause_notes(pause_ns(timed, turns, r.entry[r.best].time.p50)) if r.best >= 0 else ()
        paused = timed.pauses > 0
        timed.loop, timed.pauses = outer, pauses
        counting.close()
    if hook.error is not None:
        raise hook.error
    check_loop(r.status, r.why)
    return race_of(name, names, rule, rules, &r, notes, counting, paused)


def compare(before, after, /, *, rule="speedup >= 1.3", bint paired=False, bint random=False, name="after",
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
    check_confidence(confidence)
    if paired and random:
        raise ValueError("paired or random, not both")
    if paired and a.shape[0] != b.shape[0]:
        raise ValueError(f"paired, but {a.shape[0]} values before and {b.shape[0]} after")
    o.rule = rule_of(rule)
    o.confidence = confidence
    if random:
        o.design = PERF_DESIGN_RANDOM
    with nogil:                                 # 200,000 values take a second
        sa, sb = perf_summarize(pa, a.shape[0]), perf_summarize(pb, b.shape[0])
        if paired:
            v = perf_compare_pairs(pa, pb, a.shape[0], &o)
        else:
            v = perf_compare(pa, a.shape[0], pb, b.shape[0], &o)
    check_loop(v.status, v.reason)
    return verdict_of(words_of(name), rule, &v, summary(&sa), summary(&sb), None, v.warnings)


cdef extern from *:
    """
    /* perfh reads PERF_COUNTERS: the report does not say that nobody does. */
    #define perfh_reads_counters() do { \\
        perf_registry_ *reg_ = perf_registry_read_(); \\
        if (reg_) \\
            PERF_SET_(&reg_->heard_more, PERF_GET_(&reg_->heard_more) | 2u); \\
    } while (0)
    """
    void perfh_reads_counters()


cdef perf_counters of_scopes            # open until the process ends


cdef object count_scopes():
    """PERF_COUNTERS=1: every scope counts, as in a program of C."""
    cdef perf_counters_opts o
    memset(&o, 0, sizeof(o))
    o.which = 1 << PERF_COUNTER_TASK_CLOCK
    o.scopes = 1
    global of_scopes
    of_scopes = perf_counters_open(&o)
    perf_counters_start(&of_scopes)


if os.environ.get("PERF_COUNTERS"):
    perfh_reads_counters()
    if os.environ["PERF_COUNTERS"] != "0":
        count_scopes()
_workers.begin_here()                   # last: a spawned worker begins to watch
